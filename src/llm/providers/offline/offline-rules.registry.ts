import { findArithmetic } from './expression.parser.js';
import type { OfflineQuestion, OfflineRule } from './offline-rule.types.js';
import * as texts from './offline-text.mapper.js';
import { findTextRequest } from './text-request.parser.js';
import { findMentionedTool, findNamedCall, findUnknownCall } from './tool-request.parser.js';
import { asksUserName, findUserName } from './user-name.parser.js';
import { findPlaces, type Place } from './zone.parser.js';

/** A question about the current time or date, for one or more places. */
interface TimeRequest {
  /** Whether the question is about the date, not the time. */
  readonly isDate: boolean;
  readonly places: readonly Place[];
  /** An unknown place in the question. */
  readonly unknown?: string;
}

const DATE_EN =
  /\btoday'?s date\b|\bdate (?:is it )?today\b|\b(?:what(?:'s| is)|tell me) the (?:current )?date\b(?! of)|\bcurrent date\b|\bwhat (?:day|date) (?:is (?:it|today)|of the week is it)\b/i;
const DATE_ZH = /(?:今天|现在)是?(?:几[号日月]|多少号|什么日子|星期几|周几|礼拜几|的?日期)|几月几[号日]|当前日期/;
const TIME_EN =
  /\btime is it\b|\b(?:current|local) time\b|\b(?:what(?:'s| is)|tell me) the time\b|^\W*(?:and |the )*time\b(?:[ ?]*$| now| right now| in\b| at\b)|\bwhat(?:'s| is)? time\b(?: now| in\b|[ ?]*$)/i;
const TIME_ZH = /几点(?![开出到起发关结上下睡])|(?:现在|当前|当地|本地|此刻)是?的?(?:什么)?时间|^\s*报时/;
/** Matches a question about the time only with a place before it. */
const TIME_OF_PLACE = /^.{1,12}时间[\s?？是]*$/;
const PLACE_EN = /\btime\b[^,;]*? (?:in|at) (?:the )?(\p{L}[\p{L}\d .'-]*?)(?: now| right now| please)?[\s?.!]*$/iu;
const PLACE_ZH =
  /^(?:请问|请|告诉我|那么|那|和|查一?下|\s)*(\p{Script=Han}{2,8}?)(?:现在|当前|当地|本地|今天|此刻|的|是)*(?:几点|时间|几[号日])/u;
const NO_PLACE = /^(?:现在|今天|当前|此刻|当地|本地|什么|什么时候|你知道|知道|现在是|这里|我这里|我们这里)+$|^moment$/i;

/** Times other than the present, which the tool does not support. */
const OTHER_TIME =
  /\b(?:tomorrow|yesterday|ago|(?:next|last) (?:\p{L}+day|week|month|year))\b|[明昨后前]天|[上下]个?(?:周|星期|月)/iu;

/** Finds a question about the current time or date, in English or Chinese. */
function findTimeRequest(text: string, isChinese: boolean): TimeRequest | undefined {
  if (OTHER_TIME.test(text)) return undefined;
  const isDate = [DATE_EN, DATE_ZH].some((pattern) => pattern.test(text));
  const isTime = [TIME_EN, TIME_ZH].some((pattern) => pattern.test(text));
  if (!isDate && !isTime && !TIME_OF_PLACE.test(text)) return undefined;
  const places = findPlaces(text, isChinese);
  if (places.length > 0) return { isDate, places };
  if (!isDate && !isTime) return undefined;
  const unknown = unknownPlaceIn(text);
  return { isDate, places, ...(unknown !== undefined && { unknown }) };
}

function unknownPlaceIn(text: string): string | undefined {
  const place = PLACE_EN.exec(text)?.[1] ?? PLACE_ZH.exec(text)?.[1];
  return place === undefined || NO_PLACE.test(place) ? undefined : place;
}

const ISO = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Formats an ISO 8601 time at a place, or only its date; returns any other text unchanged. */
function describeTime(result: string, place: string, isDate: boolean, isChinese: boolean): string {
  const match = ISO.exec(result.trim());
  if (!match) return result;
  const [, day = '', hour = '', zone = ''] = match;
  if (isDate) return withAside(day, weekdayOf(day, isChinese ? 'zh-CN' : 'en'), isChinese);
  const described = `${place}${isChinese ? '：' : ': '}${day} ${hour}`;
  return place === 'UTC' ? described : withAside(described, zone === 'Z' ? 'UTC' : `UTC${zone}`, isChinese);
}

function withAside(described: string, aside: string, isChinese: boolean): string {
  return isChinese ? `${described}（${aside}）` : `${described} (${aside})`;
}

function weekdayOf(day: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' }).format(Date.parse(`${day}T00:00:00Z`));
}

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
