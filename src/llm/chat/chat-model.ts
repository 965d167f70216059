import type {
  CallAccount,
  CallOptions,
  ChatRequest,
  ChatResult,
  ChatStreamPart,
  ModelCapabilities,
} from './chat.types.js';

/**
 * The port to an LLM. Both methods throw an `AppError` with a `MODEL_…` code if the call fails, and the signal's reason
 * if it is aborted. Neither retries.
 */
export abstract class ChatModel {
  /** The provider's name, as in `LLM_PROVIDER`. */
  abstract readonly provider: string;
  /** The provider's name of the model. */
  abstract readonly name: string;
  abstract readonly capabilities: ModelCapabilities;

  abstract generate(request: ChatRequest, options?: CallOptions): Promise<ChatResult>;
  abstract stream(request: ChatRequest, options?: CallOptions): AsyncIterable<ChatStreamPart>;

  /**
   * The body that the next call would send to the provider; nothing is sent. A call whose reply is in a cache, or that another
   * model answers, has no such body.
   * @returns `null` for a model without a provider's API
   */
  bodyOf(_request: ChatRequest, _isStreaming: boolean, _account?: CallAccount): object | null {
    return null;
  }
}

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
