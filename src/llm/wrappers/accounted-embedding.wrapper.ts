import { ChatModel } from '../chat/chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart, ModelCapabilities } from '../chat/chat.types.js';
import { type EmbeddingModel, type EmbeddingResult, EmbeddingWrapper } from '../embedding-model.js';
import { partsOf } from './model-flight.builder.js';

/** An embedding model with the same cost reports and budgets as chat models. */
export class AccountedEmbeddingModel extends EmbeddingWrapper {
  constructor(
    inner: EmbeddingModel,
    /** Wraps a chat model with its price and budgets. */
    private readonly accounted: (model: ChatModel) => ChatModel,
  ) {
    super(inner);
  }

  async embed(texts: readonly string[], options: CallOptions = {}): Promise<EmbeddingResult> {
    const call = new EmbeddingCall(this.inner, texts);
    const { usage } = await this.accounted(call).generate(call.request, options);
    const { usage: _reported, ...embedded } = call.embedded!;
    return { ...embedded, ...(usage && { usage }) };
  }
}

/** One embedding call as a chat call: the texts are the prompt, the reply has no tokens. */
class EmbeddingCall extends ChatModel {
  readonly capabilities: ModelCapabilities = { vision: false, functionCalling: false, jsonMode: false };
  readonly request: ChatRequest;
  embedded: EmbeddingResult | null = null;

  constructor(
    private readonly model: EmbeddingModel,
    private readonly texts: readonly string[],
  ) {
    super();
    this.request = { messages: [{ role: 'user', content: texts.join('\n') }], parameters: { maxTokens: 0 } };
  }

  get provider(): string {
    return this.model.provider;
  }

  get name(): string {
    return this.model.name;
  }

  async generate(_request: ChatRequest, options?: CallOptions): Promise<ChatResult> {
    const { model, usage } = (this.embedded = await this.model.embed(this.texts, options));
    return {
      message: { role: 'assistant', content: '' },
      finishReason: 'stop',
      model,
      ...(usage && { usage: { completionTokens: 0, ...usage } }),
    };
  }

  async *stream(request: ChatRequest, options?: CallOptions): AsyncGenerator<ChatStreamPart, void> {
    yield* partsOf(await this.generate(request, options));
  }
}
