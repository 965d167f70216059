import { ChatModel } from '../chat-model.js';
import type {
  CallAccount,
  CallOptions,
  ChatRequest,
  ChatResult,
  ChatStreamPart,
  ModelCapabilities,
} from '../chat.types.js';

/** A chat model around another one, with its name and capabilities. */
export abstract class ModelWrapper extends ChatModel {
  readonly provider: string;
  readonly name: string;

  constructor(protected readonly inner: ChatModel) {
    super();
    this.provider = inner.provider;
    this.name = inner.name;
  }

  get capabilities(): ModelCapabilities {
    return this.inner.capabilities;
  }

  abstract override generate(request: ChatRequest, options?: CallOptions): Promise<ChatResult>;
  abstract override stream(request: ChatRequest, options?: CallOptions): AsyncIterable<ChatStreamPart>;

  override bodyOf(request: ChatRequest, isStreaming: boolean, account?: CallAccount): object | null {
    return this.inner.bodyOf(request, isStreaming, account);
  }
}
