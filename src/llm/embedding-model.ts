import type { CallOptions, Usage } from './chat.types.js';

/** The vectors of texts. */
export interface EmbeddingResult {
  /** One a text, in the order of the texts, all of one length; nobody promises that it is 1 in space. */
  readonly vectors: readonly (readonly number[])[];
  /** In tokens, as the provider counted them, and what they cost where the model has a price. */
  readonly usage?: Pick<Usage, 'promptTokens' | 'totalTokens' | 'cost'>;
  /** The model that answered, as the provider names it. */
  readonly model: string;
}

/**
 * The port to a model that turns texts into vectors, near each other where the texts mean something similar. Throws an
 * `AppError` with a `MODEL_…` code when the call fails, and the signal's reason when it is aborted; it does not retry.
 */
export abstract class EmbeddingModel {
  /** The provider's name, as in `LLM_PROVIDER`. */
  abstract readonly provider: string;
  /** The model's name, as the provider knows it. Vectors of two models cannot be compared. */
  abstract readonly name: string;
  /** Numbers of each vector; `null` as long as the provider has not answered, where only it knows. */
  abstract readonly dimensions: number | null;

  /** @param texts one or more, none of them empty */
  abstract embed(texts: readonly string[], options?: CallOptions): Promise<EmbeddingResult>;
}
