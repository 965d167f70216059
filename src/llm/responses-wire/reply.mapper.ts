import { isJsonObject } from '../../kernel/json/index.js';
import type { ChatResult, FinishReason } from '../chat/chat.types.js';
import type { AssistantMessage, SignedReasoning, ToolCall } from '../chat/message.types.js';
import type { StateOwner } from '../openai-wire/message.mapper.js';
import { isHtml } from '../wire/provider-message.parser.js';
import {
  checkUsage,
  fragmentText,
  parseJsonReply,
  type ReportedUsage,
  toProviderFailure,
  toToolCalls,
  type WireCallParts,
} from '../wire/reply.parser.js';
import { BadReplyError, MissingApiError } from '../wire/wire-failure.error.js';
import { SEPARATOR } from './input.mapper.js';

/** The used fields of a reply; none is validated yet, since servers differ. */
export interface WireResponse {
  readonly status?: unknown;
  readonly incomplete_details?: { readonly reason?: unknown } | null;
  readonly error?: unknown;
  readonly output?: unknown;
  readonly usage?: unknown;
  readonly model?: unknown;
}

/** An item of `output`: a message, a call, or reasoning; others are ignored. */
export interface WireItem {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly status?: unknown;
  readonly phase?: unknown;
  readonly content?: unknown;
  readonly call_id?: unknown;
  readonly name?: unknown;
  readonly arguments?: unknown;
  readonly summary?: unknown;
  readonly encrypted_content?: unknown;
}

/** A part of a message or of reasoning. */
export interface WirePart {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly refusal?: unknown;
}

/** The used fields of an event of a stream. */
export interface WireEvent {
  readonly type?: unknown;
  readonly output_index?: unknown;
  readonly item_id?: unknown;
  readonly summary_index?: unknown;
  readonly content_index?: unknown;
  readonly delta?: unknown;
  readonly item?: unknown;
  readonly response?: unknown;
}

type Counts = Readonly<Record<string, unknown>>;

/** The token counts of a response; `checkUsage` validates them. */
export function toReportedUsage(usage: unknown): ReportedUsage {
  const counts = toCounts(usage);
  const input = toCounts(counts['input_tokens_details']);
  return {
    promptTokens: counts['input_tokens'],
    completionTokens: counts['output_tokens'],
    totalTokens: counts['total_tokens'],
    cachedTokens: input['cached_tokens'],
    cacheWriteTokens: input['cache_write_tokens'],
    reasoningTokens: toCounts(counts['output_tokens_details'])['reasoning_tokens'],
  };
}

function toCounts(value: unknown): Counts {
  return isJsonObject(value) ? value : {};
}

/**
 * Parses the body of a reply without streaming.
 * @throws MissingApiError for the body of another API; BadReplyError or StatusError for a failed response
 */
export function toWireResponse(body: string): WireResponse {
  if (isHtml(body)) throw new MissingApiError(new BadReplyError('an HTML page instead of JSON'));
  const reply = parseJsonReply(body);
  if (reply['object'] !== 'response' && !Array.isArray(reply['output'])) {
    throw new MissingApiError(new BadReplyError('a reply of another API than Responses'));
  }
  assertReplied(reply);
  return reply;
}

/** @throws BadReplyError or StatusError for a response that failed or was cancelled */
export function assertReplied({ status, error }: WireResponse): void {
  if (error) throw toProviderFailure(error);
  if (status !== 'failed' && status !== 'cancelled') return;
  throw new BadReplyError(`a response that ends in ${status}`);
}

/** A complete response, streamed or not. */
interface WholeReply {
  readonly response: WireResponse;
  readonly items: readonly WireItem[];
  readonly usage: ReportedUsage;
  /** The requested model. */
  readonly owner: StateOwner;
}

/** Builds the result of a complete response. @throws BadReplyError for an invalid one */
export function buildResult({ response, items, usage, owner }: WholeReply): ChatResult {
  const special = finishOf(response);
  const toolCalls = toToolCalls(items.filter(isCall).map(toParts), special !== undefined);
  const isRefused = items.some((item) => refusalText(item) !== '');
  const counted = checkUsage(usage);
  return {
    message: toMessage(items, toolCalls, owner),
    finishReason: isRefused ? 'content_filter' : (special ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop')),
    ...(counted && { usage: counted }),
    model: typeof response.model === 'string' && response.model !== '' ? response.model : owner.model,
  };
}

function toMessage(items: readonly WireItem[], toolCalls: readonly ToolCall[], owner: StateOwner): AssistantMessage {
  const content = textOf(items, outputText);
  const textIn = content === '' ? refusalText : outputText;
  const reasoning = textOf(items, reasoningText);
  const signedReasoning = toSigned(items, textIn, owner);
  return {
    role: 'assistant',
    content: content === '' ? textOf(items, refusalText) : content,
    ...(reasoning !== '' && { reasoning }),
    ...(signedReasoning && { signedReasoning }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

function toParts({ call_id: id, name, arguments: args }: WireItem): WireCallParts {
  return { id: fragmentText(id), name: fragmentText(name), arguments: fragmentText(args) };
}

/** The finish reason of an incomplete response; undefined for a complete one. */
function finishOf({ status, incomplete_details: details }: WireResponse): FinishReason | undefined {
  if (status !== 'incomplete') return undefined;
  return details?.reason === 'content_filter' ? 'content_filter' : 'length';
}

/** The items of an `output`. */
export function itemsOf(output: unknown): readonly WireItem[] {
  return Array.isArray(output) ? output.filter(isJsonObject) : [];
}

export function isCall({ type }: WireItem): boolean {
  return type === 'function_call';
}

/** The text of a message; '' for other items. */
export function outputText({ type, content }: WireItem): string {
  return type === 'message' ? joined(partsOf(content), ({ type: kind, text }) => (kind === 'refusal' ? '' : text)) : '';
}

export function refusalText({ type, content }: WireItem): string {
  return type === 'message' ? joined(partsOf(content), ({ refusal }) => refusal) : '';
}

/** The summary of a reasoning item; its text if it has no summary, as that of open models. */
export function reasoningText({ type, summary, content }: WireItem): string {
  if (type !== 'reasoning') return '';
  return partTexts(summary) || partTexts(content);
}

function partTexts(parts: unknown): string {
  return joined(partsOf(parts), ({ text }) => text, SEPARATOR);
}

function partsOf(parts: unknown): readonly WirePart[] {
  return Array.isArray(parts) ? parts.filter(isJsonObject) : [];
}

function joined(parts: readonly WirePart[], textIn: (part: WirePart) => unknown, separator = ''): string {
  const texts = parts.map(textIn).filter((text) => typeof text === 'string' && text !== '');
  return texts.join(separator);
}

function textOf(items: readonly WireItem[], textIn: (item: WireItem) => string): string {
  return items
    .map(textIn)
    .filter((text) => text !== '')
    .join(SEPARATOR);
}

/**
 * The reasoning items, which later requests return unchanged, and the places, ids and phases of the other items.
 * Undefined for a reply without reasoning and phases.
 */
function toSigned(
  items: readonly WireItem[],
  textIn: (item: WireItem) => string,
  owner: StateOwner,
): SignedReasoning | undefined {
  const blocks: SignedReasoning['blocks'][number][] = [];
  let [text, calls] = [0, 0];
  for (const item of items) {
    const said = textIn(item).length;
    const isNamed = isCall(item) && fragmentText(item.name) !== '';
    if (said > 0 || isNamed) blocks.push({ value: headOf(item), text, calls });
    else if (isReturnable(item)) blocks.push({ value: withoutNulls(item), text, calls });
    text += said > 0 && text > 0 ? said + SEPARATOR.length : said;
    if (isNamed) calls++;
  }
  const isNeeded = blocks.some(({ value }) => value['type'] === 'reasoning' || value['phase'] !== undefined);
  return isNeeded ? { provider: owner.provider, model: owner.model, blocks } : undefined;
}

function headOf({ type, id, phase }: WireItem): Readonly<Record<string, unknown>> {
  return { type, ...(typeof id === 'string' && { id }), ...(typeof phase === 'string' && { phase }) };
}

/** Without a stored response, only an item that contains its reasoning can return. */
function isReturnable({ type, status, encrypted_content: encrypted, content }: WireItem): boolean {
  if (type !== 'reasoning' || status === 'incomplete') return false;
  return (typeof encrypted === 'string' && encrypted !== '') || partsOf(content).length > 0;
}

/** The API returns null for an absent field, but refuses it in a request (github.com/anomalyco/opencode/pull/45032). */
function withoutNulls(item: WireItem): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null));
}

/** Parses the body of a reply without streaming. */
export function toChatResult(body: string, owner: StateOwner): ChatResult {
  const response = toWireResponse(body);
  if (response.status === 'in_progress' || response.status === 'queued') {
    throw new BadReplyError(`a response that is still ${response.status}`);
  }
  const items = itemsOf(response.output);
  return buildResult({ response, items, usage: toReportedUsage(response.usage), owner });
}
