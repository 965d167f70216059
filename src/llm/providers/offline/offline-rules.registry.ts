import { findArithmetic } from './expression.parser.js';
import type { OfflineQuestion, OfflineRule } from './offline-rule.types.js';
import * as texts from './offline-text.mapper.js';
import { asksUserName, findUserName } from './user-name.parser.js';
import { findMentionedTool, findNamedCall, findUnknownCall } from './tool-request.parser.js';
import { findTextRequest } from './text-request.parser.js';
import { findTimeRequest } from './time-request.parser.js';
import { describeTime } from './time-result.mapper.js';

const GREETING = /^\s*(?:hello|hi|hey|good (?:morning|afternoon|evening))\b|^\s*(?:你好|您好|嗨|早上好|下午好|晚上好)/i;
const THANKS =
  /^\s*(?:(?:ok|okay|great|many),? )?(?:thanks|thank you|thx|cheers)\b|^\s*(?:好的?[，,]?\s*)?(?:谢谢|多谢|感谢)/i;
const FAREWELL = /^\s*(?:(?:good)?bye|see you)\b|^\s*(?:再见|拜拜)/i;
const ABOUT_SELF =
  /\b(?:who|what) are you\b|\bwhat can you do\b|\bwhat(?:'s| is) your name\b|^\W*help\b\W*$|你是谁|你是什么|你叫什么|你(?:能|会)(?:做|干)?(?:什么|些什么|啥)|^\s*帮助\s*$/i;

const ASKS_TOOLS =
  /\b(?:what|which|list|show)\b[^?]*\btools\b|(?:哪些|什么|列出|显示)(?:可用的?)?工具|工具(?:列表|有哪些)|列出.*工具/i;

const workOnText: OfflineRule = ({ text }) => {
  const request = findTextRequest(text);
  if (!request) return undefined;
  const { operation, text: given } = request;
  const name = `${operation}(${JSON.stringify(given)})`;
  return { kind: 'call', calls: [{ tool: 'string_tools', arguments: { ...request }, name }] };
};

const arithmetic: OfflineRule = ({ text, previous, isChinese }) => {
  const { expressions, lacksPrevious } = findArithmetic(text, previous);
  if (lacksPrevious) return { kind: 'say', text: texts.lacksPrevious(isChinese) };
  if (expressions.length === 0) return undefined;
  const calls = expressions.map((expression) => ({ tool: 'calculator', arguments: { expression }, name: expression }));
  return { kind: 'call', calls };
};

const time: OfflineRule = ({ text, isChinese }) => {
  const request = findTimeRequest(text, isChinese);
  if (!request) return undefined;
  const { isDate, places, unknown } = request;
  if (unknown !== undefined) return { kind: 'say', text: texts.unknownPlace(unknown, isChinese) };
  const wanted = places.length > 0 ? places : [{ name: 'UTC' }];
  const calls = wanted.map(({ name, ...zone }) => ({
    tool: 'get_timestamp',
    arguments: { ...zone },
    name,
    describe: (result: string) => describeTime(result, name, isDate, isChinese),
  }));
  return { kind: 'call', calls };
};

function says(pattern: RegExp, what: (question: OfflineQuestion) => string): OfflineRule {
  return (question) => (pattern.test(question.text) ? { kind: 'say', text: what(question) } : undefined);
}

const listTools: OfflineRule = ({ text, tools, isChinese }) =>
  ASKS_TOOLS.test(text) ? { kind: 'say', text: texts.listTools([...tools.values()], isChinese) } : undefined;

const userName: OfflineRule = ({ text, userName: known, isChinese }) => {
  if (asksUserName(text)) return { kind: 'say', text: texts.userName(known, isChinese) };
  const name = findUserName(text);
  return name === undefined ? undefined : { kind: 'say', text: texts.welcome(name, isChinese) };
};

/** In the order of evaluation; the first match applies. */
export const OFFLINE_RULES: readonly OfflineRule[] = [
  findNamedCall,
  listTools,
  findMentionedTool,
  workOnText,
  time,
  arithmetic,
  userName,
  says(ABOUT_SELF, texts.describeSelf),
  says(THANKS, texts.thanks),
  says(FAREWELL, texts.farewell),
  says(GREETING, texts.greeting),
  findUnknownCall,
];
