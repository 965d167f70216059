import type { ChatResult, FinishReason } from '../chat/chat.types.js';
import type { AssistantMessage, SignedReasoning } from '../chat/message.types.js';
import {
  checkUsage,
  fragmentText,
  parseJsonReply,
  type ReportedUsage,
  toToolCalls,
  type WireCallParts,
} from '../wire/reply.parser.js';
import { BadReplyError } from '../wire/wire-failure.error.js';
import {
  type OpaqueCall,
  opaqueOfCall,
  opaqueOfMessage,
  type StateOwner,
  toSignedReasoning,
} from './message.mapper.js';
import { SIGNATURE_ISSUER } from './thought-signature.mapper.js';
import type { WireChoice, WireMessage, WireReply, WireToolCall } from './wire-reply.types.js';

type Counts = Readonly<Record<string, unknown>>;

/** The token counts of a reply in OpenAI's format; `checkUsage` validates them. */
export function toReportedUsage(wire: unknown): ReportedUsage {
  const counts = toCounts(wire);
  return {
    promptTokens: counts['prompt_tokens'],
    completionTokens: counts['completion_tokens'],
    totalTokens: counts['total_tokens'],
    cachedTokens: cachedOf(counts),
    cacheWriteTokens: toCounts(counts['prompt_tokens_details'])['cache_write_tokens'],
    reasoningTokens: toCounts(counts['completion_tokens_details'])['reasoning_tokens'],
  };
}

/** The field of OpenAI or of DeepSeek. */
function cachedOf(counts: Counts): unknown {
  return toCounts(counts['prompt_tokens_details'])['cached_tokens'] ?? counts['prompt_cache_hit_tokens'];
}

function toCounts(value: unknown): Counts {
  return typeof value === 'object' && value !== null ? (value as Counts) : {};
}

/** Finish reasons of a reply that failed at the provider (GLM, DeepSeek, OpenRouter). */
const INTERRUPTED = new Set(['network_error', 'insufficient_system_resource', 'error']);

const REASONS: Readonly<Record<string, FinishReason>> = {
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  content_filter: 'content_filter',
  sensitive: 'content_filter',
};

/** Whether the finish reason means that the provider aborted the reply. */
function isInterrupted(wire: unknown): boolean {
  return typeof wire === 'string' && INTERRUPTED.has(wire);
}

/**
 * Maps a finish reason. An unknown one counts as `stop`. `stop` with tool calls becomes `tool_calls`, and `tool_calls`
 * without one becomes `stop`.
 */
export function toFinishReason(wire: unknown, hasCalls: boolean): FinishReason {
  const special = typeof wire === 'string' && Object.hasOwn(REASONS, wire) ? REASONS[wire] : undefined;
  return special ?? (hasCalls ? 'tool_calls' : 'stop');
}

/** A complete reply, streamed or not. */
interface WholeReply {
  readonly content: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly calls: readonly (WireCallParts & { readonly opaque?: OpaqueCall | undefined })[];
  readonly finish: unknown;
  readonly usage: ReportedUsage;
  readonly model: string;
  readonly signedReasoning?: SignedReasoning | undefined;
  /** Fields of a gateway, and the model to which they are returned. */
  readonly opaque?: Readonly<Record<string, unknown>> | undefined;
  readonly owner: StateOwner;
}

/** Builds the result of a complete reply. @throws BadReplyError if the provider reports that the reply failed */
export function buildResult(reply: WholeReply): ChatResult {
  if (isInterrupted(reply.finish)) throw new BadReplyError(`a reply that ends in ${String(reply.finish)}`);
  const isCut = toFinishReason(reply.finish, false) !== 'stop';
  const toolCalls = toToolCalls(reply.calls, isCut);
  // `toToolCalls` has dropped the others.
  const named = reply.calls.filter(({ name }) => name !== '');
  const signedReasoning =
    (toolCalls.length > 0 ? reply.signedReasoning : undefined) ??
    toSignedReasoning(
      reply.owner,
      reply.opaque,
      named.map(({ opaque }) => opaque),
    );
  const message: AssistantMessage = {
    role: 'assistant',
    content: reply.content === '' ? reply.refusal : reply.content,
    ...(reply.reasoning !== '' && { reasoning: reply.reasoning }),
    ...(signedReasoning && { signedReasoning }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
  const usage = checkUsage(reply.usage);
  return {
    message,
    finishReason: reply.refusal === '' ? toFinishReason(reply.finish, toolCalls.length > 0) : 'content_filter',
    ...(usage && { usage }),
    model: reply.model,
  };
}

/**
 * The thought signatures of a reply's calls (Gemini). A call starts with its name; a later fragment may bring its
 * signature.
 */
export class ThoughtSignatureBuilder {
  private readonly signatures: (string | undefined)[] = [];

  add(calls: readonly WireToolCall[]): this {
    for (const call of calls) {
      if (typeof call.function?.name === 'string' && call.function.name !== '') this.signatures.push(undefined);
      const signature = signatureOf(call);
      if (signature !== undefined) this.signatures[Math.max(0, this.signatures.length - 1)] = signature;
    }
    return this;
  }

  /** @param model the requested one: a signature is valid for one model only */
  result(model: string, content: string): SignedReasoning | undefined {
    const blocks = this.signatures.flatMap((signature, calls) =>
      signature === undefined ? [] : [{ value: { thought_signature: signature }, text: content.length, calls }],
    );
    return blocks.length === 0 ? undefined : { provider: SIGNATURE_ISSUER, model, blocks };
  }
}

function signatureOf({ extra_content: extra }: WireToolCall): string | undefined {
  const signature = extra?.google?.thought_signature;
  return typeof signature === 'string' && signature !== '' ? signature : undefined;
}

/** The text of a content: a string, null, or an array of parts whose texts are joined. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map(partText).join('');
}

/**
 * The field is `reasoning_content` for DeepSeek and GLM, `reasoning` for Ollama and OpenRouter. Mistral sends parts of
 * the content with the type `thinking` (docs.mistral.ai, "Reasoning").
 */
export function reasoningText({ reasoning_content, reasoning, content }: WireMessage): string {
  if (typeof reasoning_content === 'string' && reasoning_content !== '') return reasoning_content;
  if (typeof reasoning === 'string' && reasoning !== '') return reasoning;
  return Array.isArray(content) ? content.map((part) => contentText(thinkingOf(part))).join('') : '';
}

function thinkingOf(part: unknown): unknown {
  return typeof part === 'object' && part !== null && 'thinking' in part ? part.thinking : '';
}

export function refusalText(message: WireMessage): string {
  return typeof message.refusal === 'string' ? message.refusal : '';
}

function partText(part: unknown): string {
  if (typeof part === 'string') return part;
  if (typeof part !== 'object' || part === null || !('text' in part)) return '';
  return typeof part.text === 'string' ? part.text : '';
}

/** Parses the body of a reply without streaming. @param owner the requested model; its name if the reply contains none */
export function toChatResult(body: string, owner: StateOwner): ChatResult {
  const { model } = owner;
  const reply: WireReply = parseJsonReply(body);
  const choice = firstChoice(reply);
  const message = choice?.message;
  if (!message) throw new BadReplyError('a reply without choices');
  return buildResult({
    content: contentText(message.content),
    reasoning: reasoningText(message),
    refusal: refusalText(message),
    calls: wireCalls(message.tool_calls).map(toParts),
    signedReasoning: signedCalls(message, model),
    opaque: opaqueOfMessage(message),
    owner,
    finish: choice.finish_reason,
    usage: toReportedUsage(usageOf(reply, choice)),
    model: typeof reply.model === 'string' && reply.model !== '' ? reply.model : model,
  });
}

function signedCalls({ content, tool_calls }: WireMessage, model: string): SignedReasoning | undefined {
  const named = wireCalls(tool_calls).filter((call) => toParts(call).name !== '');
  return new ThoughtSignatureBuilder().add(named).result(model, contentText(content));
}

export function firstChoice(reply: WireReply): WireChoice | undefined {
  const first: unknown = Array.isArray(reply.choices) ? reply.choices[0] : undefined;
  return typeof first === 'object' && first !== null ? first : undefined;
}

/** Moonshot reports usage in the choice (github.com/earendil-works/pi/issues/2017), Groq also in `x_groq`. */
export function usageOf(reply: WireReply, choice: WireChoice | undefined): unknown {
  return reply.usage ?? choice?.usage ?? reply.x_groq?.usage;
}

export function wireCalls(calls: unknown): readonly WireToolCall[] {
  if (!Array.isArray(calls)) return [];
  return calls.filter((call): call is WireToolCall => typeof call === 'object' && call !== null);
}

function toParts(call: WireToolCall): WireCallParts & { readonly opaque: OpaqueCall | undefined } {
  return {
    id: typeof call.id === 'string' ? call.id : '',
    name: typeof call.function?.name === 'string' ? call.function.name : '',
    arguments: fragmentText(call.function?.arguments),
    opaque: opaqueOfCall(call),
  };
}
