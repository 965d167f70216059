import { parseExactJson } from '../../kernel/json/index.js';
import type { Usage } from '../chat/chat.types.js';
import type { ToolCall } from '../chat/message.types.js';
import { isHtml, providerKind, providerMessage, statusOf } from './provider-message.parser.js';
import { BadReplyError, StatusError } from './wire-failure.error.js';

const NONE = new Set(['', 'null']);

/**
 * The JSON text of a call's arguments, at least `{}`. Models and servers also send an object, nothing, `null`, or JSON
 * inside a JSON string. Other text is returned unchanged, even if it is not JSON.
 */
export function toArgumentsText(sent: unknown): string {
  const text = typeof sent === 'string' ? decodedOnce(sent) : JSON.stringify(sent ?? {});
  return NONE.has(text.trim()) ? '{}' : text;
}

/** The text inside a JSON string, if it is an object or nothing. */
function decodedOnce(text: string): string {
  if (!text.trimStart().startsWith('"')) return text;
  try {
    const inner = String(JSON.parse(text)).trim();
    return inner.startsWith('{') || NONE.has(inner) ? inner : text;
  } catch {
    return text;
  }
}

/** A tool call as assembled from the wire. */
export interface WireCallParts {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/**
 * Normalises tool calls: each gets a name, arguments (at least `{}`), and a unique id (the provider's, else
 * `call_<index>`). In a truncated reply, a call without a name is dropped.
 * @throws BadReplyError for a call without a name in a complete reply
 */
export function toToolCalls(parts: readonly WireCallParts[], isCut: boolean): ToolCall[] {
  const taken = new Set<string>();
  const calls: ToolCall[] = [];
  for (const [index, part] of parts.entries()) {
    if (part.name === '') {
      if (isCut) continue;
      throw new BadReplyError('a tool call without a name');
    }
    const id = freeId(part.id === '' ? `call_${index}` : part.id, taken);
    taken.add(id);
    calls.push({ id, name: part.name, arguments: toArgumentsText(part.arguments) });
  }
  return calls;
}

/** The text of arguments or of a fragment of them; some servers send an object instead of its JSON text. */
export function fragmentText(wire: unknown): string {
  if (typeof wire === 'string') return wire;
  return wire === undefined || wire === null ? '' : JSON.stringify(wire);
}

function freeId(wanted: string, taken: ReadonlySet<string>): string {
  let id = wanted;
  for (let n = 2; taken.has(id); n++) id = `${wanted}_${n}`;
  return id;
}

type JsonReply = Readonly<Record<string, unknown>>;

/**
 * Parses the body of a reply, or the data of one stream event.
 * @throws BadReplyError for text that is not a JSON object; that or StatusError for a provider error
 */
export function parseJsonReply(text: string): JsonReply {
  if (text.trim() === '') throw new BadReplyError('an empty body');
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch {
    throw new BadReplyError(isHtml(text) ? 'an HTML page instead of JSON' : 'something that is not JSON');
  }
  if (typeof value !== 'object' || value === null) throw new BadReplyError('JSON that is not a reply');
  const reply = value as JsonReply;
  const error = reply['error'] || (isFlatError(reply) ? reply : undefined);
  if (error) throw toProviderFailure(error);
  return reply;
}

/** An error without the member `error` (Mistral, vLLM: `object`; Cerebras: `message`; FastAPI: `detail`). */
function isFlatError({ object, type, choices, message, detail }: JsonReply): boolean {
  if (object === 'error' || type === 'error') return true;
  return choices === undefined && (typeof message === 'string' || detail !== undefined);
}

/** Converts the error object of a reply with status 200. */
export function toProviderFailure(error: unknown): StatusError | BadReplyError {
  const status = statusOf(error);
  const said = providerMessage(error);
  if (status !== undefined) return new StatusError(status, said, providerKind(error));
  return new BadReplyError(`an error: ${said}`);
}

/** Token counts of one call as a provider or an application's model reports them, not validated. */
export type ReportedUsage = Readonly<Partial<Record<keyof Usage, unknown>>>;

/** Maximum plausible token count: the largest context windows hold about ten million. */
const MAX_TOKENS = 100_000_000;

/**
 * Validates the counts of one call. A count that is not a number, negative or above 100 million is ignored. The result
 * is consistent: the total is the larger of the reported total and the sum of its parts. All tokens beside the prompt
 * count as completion, so reasoning outside the reported completion has the output price.
 * @returns undefined if all counts are zero
 */
export function checkUsage(reported: ReportedUsage): Usage | undefined {
  const completion = tokensOf(reported.completionTokens);
  const reasoning = tokensOf(reported.reasoningTokens);
  // More reasoning than completion means that it is not part of the completion.
  const generated = reasoning > completion ? completion + reasoning : completion;
  const prompt = tokensOf(reported.promptTokens);
  const totalTokens = Math.max(tokensOf(reported.totalTokens), prompt + generated);
  const promptTokens = prompt > 0 ? prompt : totalTokens - generated;
  const completionTokens = totalTokens - promptTokens;
  if (totalTokens === 0) return undefined;
  return {
    promptTokens,
    completionTokens,
    totalTokens,
    ...partOf('cachedTokens', reported, promptTokens),
    ...partOf('cacheWriteTokens', reported, promptTokens - cachedOf(reported, promptTokens)),
    ...partOf('reasoningTokens', reported, completionTokens),
  };
}

/** A part is at most its whole; absent if it is not reported. */
function partOf(
  name: 'cachedTokens' | 'cacheWriteTokens' | 'reasoningTokens',
  reported: ReportedUsage,
  whole: number,
): Partial<Usage> {
  return isCount(reported[name]) ? { [name]: Math.min(tokensOf(reported[name]), whole) } : {};
}

function cachedOf({ cachedTokens }: ReportedUsage, prompt: number): number {
  return Math.min(tokensOf(cachedTokens), prompt);
}

function tokensOf(value: unknown): number {
  return isCount(value) ? Math.ceil(value) : 0;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_TOKENS;
}
