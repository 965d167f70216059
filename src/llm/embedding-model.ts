import type { CallOptions, Usage } from './chat/chat.types.js';

/** The vectors of texts. */
export interface EmbeddingResult {
  /** One vector per text, in the order of the texts, all of the same length; not necessarily normalised. */
  readonly vectors: readonly (readonly number[])[];
  /** Tokens, as the provider reports them, and their cost if the model has a price. */
  readonly usage?: Pick<Usage, 'promptTokens' | 'totalTokens' | 'cost'>;
  /** Name of the model that replied, as the provider reports it. */
  readonly model: string;
}

/**
 * The port to a model that maps texts to vectors; texts with a similar meaning have close vectors. Throws an `AppError`
 * with a `MODEL_…` code if the call fails, and the signal's reason if it is aborted. It does not retry.
 */
export abstract class EmbeddingModel {
  /** The provider's name, as in `LLM_PROVIDER`. */
  abstract readonly provider: string;
  /** The provider's name of the model. Vectors of different models are not comparable. */
  abstract readonly name: string;
  /** Length of each vector; `null` until the first reply if only the provider knows it. */
  abstract readonly dimensions: number | null;

  /** @param texts at least one; no text is empty */
  abstract embed(texts: readonly string[], options?: CallOptions): Promise<EmbeddingResult>;
}

/** An embedding model around another one, with its name and dimensions. */
export abstract class EmbeddingWrapper extends EmbeddingModel {
  constructor(protected readonly inner: EmbeddingModel) {
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
}
