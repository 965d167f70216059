import type { Cassette } from '../cassette/cassette.js';
import type { CallOptions } from '../chat.types.js';
import { EmbeddingModel, type EmbeddingResult } from '../embedding-model.js';

/** Answers recorded texts from a cassette, and records the vectors of others. */
export class CassetteEmbeddingModel extends EmbeddingModel {
  constructor(
    private readonly inner: EmbeddingModel,
    private readonly cassette: Cassette,
  ) {
    super();
  }

  get provider(): string {
    return this.inner.provider;
  }

  get name(): string {
    return this.inner.name;
  }

  get dimensions(): number | null {
    return this.inner.dimensions;
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
