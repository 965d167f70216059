import { ChatModel } from '../chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart, ModelCapabilities } from '../chat.types.js';

/** A chat model around another one, which it passes for. */
export abstract class ModelWrapper extends ChatModel {
  constructor(protected readonly inner: ChatModel) {
    super();
  }

  get provider(): string {
    return this.inner.provider;
  }

  get name(): string {
    return this.inner.name;
  }

  get capabilities(): ModelCapabilities {
    return this.inner.capabilities;
  }

  abstract override generate(request: ChatRequest, options?: CallOptions): Promise<ChatResult>;
  abstract override stream(request: ChatRequest, options?: CallOptions): AsyncIterable<ChatStreamPart>;
}
