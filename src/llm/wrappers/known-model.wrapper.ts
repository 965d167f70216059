import { type ChatModel, ModelWrapper } from '../chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart, ModelCapabilities } from '../chat.types.js';

/** A model with configured capabilities. */
export class KnownModel extends ModelWrapper {
  private readonly known: ModelCapabilities;

  constructor(model: ChatModel, known: Partial<ModelCapabilities>) {
    super(model);
    this.known = { ...model.capabilities, ...known };
  }

  override get capabilities(): ModelCapabilities {
    return this.known;
  }

  generate(request: ChatRequest, options?: CallOptions): Promise<ChatResult> {
    return this.inner.generate(request, options);
  }

  stream(request: ChatRequest, options?: CallOptions): AsyncIterable<ChatStreamPart> {
    return this.inner.stream(request, options);
  }
}
