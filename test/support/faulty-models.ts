import { AppError, type ErrorCode } from '../../src/errors/index.js';
import type { CallOptions, ChatModel, ChatResult, ChatStreamPart } from '../../src/llm/chat/index.js';
import { says, ScriptedChatModel } from './scripted-chat-model.js';

export const REQUEST = { messages: [{ role: 'user', content: 'hi' }] } as const;

export const fails = (code: ErrorCode, more: { isRetryable?: boolean; retryAfterMs?: number } = {}): AppError =>
  new AppError(code, code, {
    isRetryable: more.isRetryable ?? true,
    ...(more.retryAfterMs !== undefined && { details: { retry_after_ms: more.retryAfterMs } }),
  });
export const busy = (retryAfterMs?: number) =>
  fails('MODEL_RATE_LIMITED', retryAfterMs === undefined ? {} : { retryAfterMs });
export const down = () => fails('MODEL_UNAVAILABLE');
export const refused = () => fails('MODEL_REFUSED', { isRetryable: false });
export const deadKey = () => fails('MODEL_AUTHENTICATION', { isRetryable: false });

/** A model that streams a part of its text before it fails. */
export class BreakingOffModel extends ScriptedChatModel {
  override async *stream(request: never, options?: CallOptions): AsyncIterable<ChatStreamPart> {
    const result = await this.generate(request, options);
    yield { type: 'text', text: result.message.content };
    if (result.finishReason === 'length') throw down();
    yield { type: 'finish', result };
  }
}
export const breaksOff = (text: string) => says(text, { finishReason: 'length' });

export async function parts(model: ChatModel, options?: CallOptions): Promise<unknown[]> {
  const seen: unknown[] = [];
  for await (const part of model.stream(REQUEST, options))
    seen.push(part.type === 'text' ? part.text : part.type === 'finish' ? part.result.message.content : part.type);
  return seen;
}

/** The outcome of a model call: its content, its parts, or its error code. */
export async function outcome(work: Promise<ChatResult | unknown[]>): Promise<unknown> {
  try {
    const found = await work;
    return Array.isArray(found) ? found : found.message.content;
  } catch (error) {
    return error instanceof AppError ? error.code : error;
  }
}
