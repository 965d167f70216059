import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart, ModelCapabilities } from './chat.types.js';

/**
 * The port to an LLM. Both verbs throw an `AppError` with a `MODEL_…` code when the call fails, and the signal's
 * reason when it is aborted; neither retries.
 */
export abstract class ChatModel {
  /** The provider's name, as in `LLM_PROVIDER`. */
  abstract readonly provider: string;
  /** The model's name, as the provider knows it. */
  abstract readonly name: string;
  abstract readonly capabilities: ModelCapabilities;

  abstract generate(request: ChatRequest, options?: CallOptions): Promise<ChatResult>;
  abstract stream(request: ChatRequest, options?: CallOptions): AsyncIterable<ChatStreamPart>;
}
