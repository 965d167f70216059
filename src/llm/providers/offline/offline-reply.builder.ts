import type { Message, ToolMessage } from '../../message.types.js';
import { textOf, type OfflineConversation } from './offline-conversation.mapper.js';
import type { OfflineReply } from './offline-dialect.types.js';
import { planFor } from './offline-plan.builder.js';
import type { OfflineCall, OfflineQuestion } from './offline-rule.types.js';
import { lacksTool, toolFailed } from './offline-text.mapper.js';
import { maskQuotations } from './quoted-text.parser.js';
import { findUserName } from './user-name.parser.js';

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
