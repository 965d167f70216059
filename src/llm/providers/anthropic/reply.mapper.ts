import type { ChatResult, FinishReason } from '../../chat/chat.types.js';
import type { AssistantMessage, SignedReasoning, ToolCall } from '../../chat/message.types.js';
import { checkUsage, parseJsonReply, type ReportedUsage, toToolCalls } from '../../wire/reply.parser.js';
import { BadReplyError } from '../../wire/wire-failure.error.js';
import type { ReplyBlock, WholeBlock } from './wire-block.types.js';

/** A complete reply, streamed or not. */
export interface WholeReply {
  readonly blocks: readonly WholeBlock[];
  readonly stopReason: unknown;
  readonly usage: ReportedUsage;
  /** The model that replied. */
  readonly model: string;
  /** The requested model. */
  readonly requestedModel: string;
}

const REASONS: Readonly<Record<string, FinishReason>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

/** Parses the body of a reply without streaming. */
export function toWholeReply(body: string, requestedModel: string): WholeReply {
  const message = parseJsonReply(body);
  if (!Array.isArray(message['content'])) throw new BadReplyError('a reply without content');
  return {
    blocks: (message['content'] as (ReplyBlock | null)[]).flatMap((block) => toWholeBlock(block)),
    stopReason: message['stop_reason'],
    usage: toReportedUsage(message['usage']),
    model: nameOf(message['model']) ?? requestedModel,
    requestedModel,
  };
}

/** Builds the result of a complete reply. @throws BadReplyError for an incomplete or invalid one */
export function buildResult({ blocks, stopReason, usage, model, requestedModel }: WholeReply): ChatResult {
  if (typeof stopReason !== 'string') throw new BadReplyError('a reply without its stop reason');
  const special = Object.hasOwn(REASONS, stopReason) ? REASONS[stopReason] : undefined;
  const calls = blocks.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
  const toolCalls = toToolCalls(calls, special !== undefined);
  if (!special) assertWhole(toolCalls);
  const counted = checkUsage(usage);
  return {
    message: toMessage(blocks, toolCalls, requestedModel),
    finishReason: special ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop'),
    ...(counted && { usage: counted }),
    model,
  };
}

export function nameOf(model: unknown): string | undefined {
  return typeof model === 'string' && model !== '' ? model : undefined;
}

export function toCounts(usage: unknown): Readonly<Record<string, unknown>> {
  return typeof usage === 'object' && usage !== null ? (usage as Readonly<Record<string, unknown>>) : {};
}

function toMessage(blocks: readonly WholeBlock[], toolCalls: readonly ToolCall[], model: string): AssistantMessage {
  const reasoning = blocks.map((block) => (block.type === 'thinking' ? block.thinking : '')).join('');
  const signed = toSigned(blocks);
  return {
    role: 'assistant',
    content: blocks.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    ...(reasoning !== '' && { reasoning }),
    // Required only beside calls.
    ...(toolCalls.length > 0 &&
      signed.length > 0 && { signedReasoning: { provider: 'anthropic', model, blocks: signed } }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

/** Places count the calls of the message, which has none without a name. */
function toSigned(blocks: readonly WholeBlock[]): SignedReasoning['blocks'] {
  const signed: SignedReasoning['blocks'][number][] = [];
  let [text, calls] = [0, 0];
  for (const block of blocks) {
    if (block.type === 'text') text += block.text.length;
    else if (block.type === 'tool_use') calls += block.name === '' ? 0 : 1;
    else signed.push({ value: { ...block }, text, calls });
  }
  return signed;
}

/** A truncated stream can end inside an input and look complete. */
function assertWhole(calls: readonly ToolCall[]): void {
  for (const { arguments: args } of calls) {
    try {
      JSON.parse(args);
    } catch {
      throw new BadReplyError('a tool call whose input is not whole');
    }
  }
}

/** The used fields of a block. @param input JSON of the call's input, if it was streamed apart from the block */
export function toWholeBlock(block: ReplyBlock | null, input = JSON.stringify(block?.input ?? {})): WholeBlock[] {
  switch (block?.type) {
    case 'text':
      return [{ type: 'text', text: toText(block.text) }];
    case 'thinking':
      return [{ type: 'thinking', thinking: toText(block.thinking), signature: toText(block.signature) }];
    case 'redacted_thinking':
      return [{ type: 'redacted_thinking', data: toText(block.data) }];
    case 'tool_use':
      return [{ type: 'tool_use', id: toText(block.id), name: toText(block.name), arguments: input }];
    default:
      return [];
  }
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The prompt includes tokens that were read from the cache or written to it. */
export function toReportedUsage(usage: unknown): ReportedUsage {
  const counts = toCounts(usage);
  const cached = counts['cache_read_input_tokens'];
  const written = counts['cache_creation_input_tokens'];
  const prompt = [counts['input_tokens'], written, cached].filter(isCount);
  return {
    ...(prompt.length > 0 && { promptTokens: prompt.reduce((sum, count) => sum + count, 0) }),
    completionTokens: counts['output_tokens'],
    cachedTokens: cached,
    cacheWriteTokens: written,
    reasoningTokens: toCounts(counts['output_tokens_details'])['thinking_tokens'],
  };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0;
}
