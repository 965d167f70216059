import type { Message, ToolMessage } from '../../chat/message.types.js';
import { type OfflineConversation, textOf } from './offline-conversation.mapper.js';
import type { OfflineReply } from './offline-dialect.types.js';
import type { OfflineAnswer, OfflineCall, OfflineQuestion } from './offline-rule.types.js';
import { OFFLINE_RULES } from './offline-rules.registry.js';
import { beyondMeans, lacksTool, toolFailed } from './offline-text.mapper.js';
import { maskQuotations } from './quoted-text.parser.js';
import { findUserName } from './user-name.parser.js';

/** Maximum length of a request, in UTF-16 units; the rules do not apply to longer texts. */
const MAX_LENGTH = 2_000;
/** Separators of requests. The next part must not continue the previous one. */
const BETWEEN =
  /(?:\band\b(?! (?:then|times|plus|minus|divided|multiplied)\b)|,(?!\d{3})|[，;；、?？\n]|和|以及|还有|并且)/i;

/** Plans the reply to a question; deterministic. */
function planFor(question: OfflineQuestion): OfflineAnswer {
  const beyond: OfflineAnswer = { kind: 'say', text: beyondMeans(question) };
  if (question.text.length > MAX_LENGTH) return beyond;
  return inParts(question) ?? askRules(question) ?? beyond;
}

/** Splits a question into several requests, if each part is a request itself. */
function inParts(question: OfflineQuestion): OfflineAnswer | undefined {
  const { masked, restore } = maskQuotations(question.text);
  const parts = masked.split(BETWEEN).filter((part) => part.trim() !== '');
  if (parts.length < 2) return undefined;
  const calls: OfflineCall[] = [];
  const { previous, ...context } = question;
  for (const [i, part] of parts.entries()) {
    const answer = askRules({ ...context, text: restore(part).trim(), ...(i === 0 && previous && { previous }) });
    if (answer?.kind !== 'call') return undefined;
    calls.push(...answer.calls);
  }
  return { kind: 'call', calls };
}

function askRules(question: OfflineQuestion): OfflineAnswer | undefined {
  for (const rule of OFFLINE_RULES) {
    const answer = rule(question);
    if (answer) return answer;
  }
  return undefined;
}

const NUMBER = /^-?\d+(?:\.\d+)?$/;
/** The first line of the result of an edited call, as the reasoning loop writes it. */
const EDIT_NOTE = /^\[A person changed the arguments of this call [^\n]*\n/;

/** The last question of a conversation. */
export function questionOf({ messages, tools }: OfflineConversation): OfflineQuestion {
  const lastUserAt = messages.findLastIndex(({ role }) => role === 'user');
  const message = messages[lastUserAt];
  const text = message?.role === 'user' ? textOf(message) : '';
  const previous = lastNumber(messages.slice(0, Math.max(lastUserAt, 0)));
  const isChinese = /\p{Script=Han}/u.test(maskQuotations(text).masked);
  const userName = lastUserName(messages.slice(0, Math.max(lastUserAt, 0)));
  return {
    text,
    isChinese,
    tools,
    ...(previous !== undefined && { previous }),
    ...(userName !== undefined && { userName }),
  };
}

/** The reply to a question: a text or tool calls; after their results, the answer. */
export function replyTo(question: OfflineQuestion, { messages, tools }: OfflineConversation): OfflineReply {
  const plan = planFor(question);
  if (plan.kind === 'say') return plan;
  const able = plan.calls.filter(({ tool }) => tools.has(tool));
  const lastUserAt = messages.findLastIndex(({ role }) => role === 'user');
  const results = messages.filter((message, i): message is ToolMessage => i > lastUserAt && message.role === 'tool');
  if (able.length > 0 && results.length === 0) return { calls: able };
  return { text: describeAll(plan.calls, results, tools, question.isChinese) };
}

/** Expects the results in the order of the calls. */
function describeAll(
  calls: readonly OfflineCall[],
  results: readonly ToolMessage[],
  tools: OfflineConversation['tools'],
  isChinese: boolean,
): string {
  const left = [...results];
  const sentences = calls.flatMap((call) => {
    if (!tools.has(call.tool)) return [];
    const result = left.shift();
    return result ? [describe(call, result.content, calls.length === 1, isChinese)] : [];
  });
  const lacking = new Set(calls.map(({ tool }) => tool).filter((tool) => !tools.has(tool)));
  const sums = sentences.join(', ');
  return [...(sums === '' ? [] : [sums]), ...[...lacking].map((tool) => lacksTool(tool, isChinese))].join('\n');
}

/**
 * The result of an edited call belongs to a call that was not planned, so its note and content are returned unchanged.
 */
function describe(call: OfflineCall, result: string, isOnly: boolean, isChinese: boolean): string {
  const note = EDIT_NOTE.exec(result)?.[0];
  if (note === undefined) return describePlanned(call, result, isOnly, isChinese);
  const content = result.slice(note.length);
  return `${note}${content.startsWith('Error:') ? toolFailed(call.tool, content, isChinese) : content}`;
}

function describePlanned(
  { tool, name, describe: inWords }: OfflineCall,
  result: string,
  isOnly: boolean,
  isChinese: boolean,
): string {
  if (result.startsWith('Error:')) {
    const failure = toolFailed(tool, result, isChinese);
    return isOnly ? failure : `${name}: ${failure}`;
  }
  if (inWords) return inWords(result);
  return isOnly ? result : `${name} = ${result}`;
}

function lastUserName(messages: readonly Message[]): string | undefined {
  for (const message of messages.toReversed()) {
    const name = message.role === 'user' ? findUserName(textOf(message)) : undefined;
    if (name !== undefined) return name;
  }
  return undefined;
}

/** The last number in a tool result or an answer. */
function lastNumber(messages: readonly Message[]): string | undefined {
  for (const message of messages.toReversed()) {
    if (message.role !== 'tool' && message.role !== 'assistant') continue;
    const content = message.content.replace(EDIT_NOTE, '');
    const value = content.slice(content.lastIndexOf('=') + 1).trim();
    if (NUMBER.test(value)) return value;
  }
  return undefined;
}
