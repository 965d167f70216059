import type { RankRegistry } from './rank.registry.js';

export type VocabularyName = 'o200k_base' | 'cl100k_base';

/** What byte-pair encoding needs to know of a model. */
export interface Vocabulary {
  /** Cuts a text into the pieces that are encoded each for itself; global, so its `lastIndex` is the caller's. */
  readonly pieces: RegExp;
  readonly ranks: RankRegistry;
}
