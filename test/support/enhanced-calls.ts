import type { CallOptions, ChatModel, ChatRequest, ChatResult, ChatStreamPart } from '../../src/llm/chat/index.js';
import type { ModelRegistry } from '../../src/llm/index.js';
import type { FakeLlm } from './fake-llm.js';

export const CALL_METHODS = ['generate', 'stream'] as const;
export type CallMethod = (typeof CALL_METHODS)[number];

export interface Asked {
  readonly result: ChatResult;
  /** The parts of a stream before its end; empty for `generate`. */
  readonly parts: readonly ChatStreamPart[];
}

/** A model of the fake LLM, created without an application. */
export function modelOf(registry: ModelRegistry, llm: FakeLlm, functionCalling = true): ChatModel {
  const settings = { provider: 'openai', apiKey: 'test', baseUrl: llm.url, model: 'some-model', timeoutMs: 10_000 };
  return registry.create({ ...settings, capabilities: { functionCalling } });
}

/** Calls the model by either verb. Throws when a stream does not end with exactly one `finish`. */
export async function ask(
  model: ChatModel,
  method: CallMethod,
  request: string | ChatRequest,
  options?: CallOptions,
): Promise<Asked> {
  const asked = typeof request === 'string' ? toRequest(request) : request;
  if (method === 'generate') return { result: await model.generate(asked, options), parts: [] };
  const parts: ChatStreamPart[] = [];
  for await (const part of model.stream(asked, options)) parts.push(part);
  const last = parts.pop();
  if (last?.type !== 'finish' || parts.some(({ type }) => type === 'finish')) throw new Error('It has no end, or two.');
  return { result: last.result, parts };
}

/** The texts that a stream's reader has: the one after the last restart, or one for each reply. */
export function textsOf(parts: readonly ChatStreamPart[]): string[] {
  const texts = [''];
  for (const part of parts) {
    if (part.type === 'restart') texts.push('');
    else if (part.type === 'text') texts.push(`${texts.pop()!}${part.text}`);
  }
  return texts;
}

export function toRequest(content: string): ChatRequest {
  return { messages: [{ role: 'user', content }] };
}
