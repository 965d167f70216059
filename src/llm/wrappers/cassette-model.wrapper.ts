import type { Cassette } from '../cassette/cassette.js';
import { type ChatModel, ModelWrapper } from '../chat/chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart } from '../chat/chat.types.js';
import { type EmbeddingModel, type EmbeddingResult, EmbeddingWrapper } from '../embedding-model.js';
import { partsOf } from './model-flight.builder.js';

/** Answers recorded requests from a cassette, and records the replies to others. */
export class CassetteModel extends ModelWrapper {
  constructor(
    inner: ChatModel,
    private readonly cassette: Cassette,
  ) {
    super(inner);
  }

  async generate(request: ChatRequest, options: CallOptions = {}): Promise<ChatResult> {
    options.signal?.throwIfAborted();
    const recorded = this.cassette.take(this, request);
    if (recorded) return recorded;
    const result = await this.inner.generate(request, options);
    this.cassette.add(this, request, result);
    return result;
  }

  async *stream(request: ChatRequest, options: CallOptions = {}): AsyncGenerator<ChatStreamPart, void> {
    options.signal?.throwIfAborted();
    const recorded = this.cassette.take(this, request);
    if (recorded) return yield* partsOf(recorded);
    for await (const part of this.inner.stream(request, options)) {
      if (part.type === 'finish') this.cassette.add(this, request, part.result);
      yield part;
    }
  }
}

/** Answers recorded texts from a cassette, and records the vectors of others. */
export class CassetteEmbeddingModel extends EmbeddingWrapper {
  constructor(
    inner: EmbeddingModel,
    private readonly cassette: Cassette,
  ) {
    super(inner);
  }

  async embed(texts: readonly string[], options: CallOptions = {}): Promise<EmbeddingResult> {
    options.signal?.throwIfAborted();
    const recorded = this.cassette.takeVectors(this, texts);
    if (recorded) return recorded;
    const result = await this.inner.embed(texts, options);
    this.cassette.addVectors(this, texts, result);
    return result;
  }
}
