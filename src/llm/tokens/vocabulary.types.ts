import type { RankRegistry } from './rank.registry.js';

export type VocabularyName = 'o200k_base' | 'cl100k_base';

/** Data of a model's byte-pair encoding. */
export interface Vocabulary {
  /** Splits a text into pieces, each encoded separately. Global: the caller sets its `lastIndex`. */
  readonly pieces: RegExp;
  readonly ranks: RankRegistry;
}
