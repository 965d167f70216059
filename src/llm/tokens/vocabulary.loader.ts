import { Injectable } from '@nestjs/common';
import { type ListedToken, RankRegistry } from './rank.registry.js';

export type VocabularyName = 'o200k_base' | 'cl100k_base';

/** Data of a model's byte-pair encoding. */
export interface Vocabulary {
  /** Splits a text into pieces, each encoded separately. Global: the caller sets its `lastIndex`. */
  readonly pieces: RegExp;
  readonly ranks: RankRegistry;
}

/** Loads vocabularies from `gpt-tokenizer` on demand: 0.3 s of CPU time and 40 MB for o200k. */
@Injectable()
export class VocabularyLoader {
  /** Rejects if the library cannot be loaded. */
  async load(name: VocabularyName): Promise<Vocabulary> {
    switch (name) {
      case 'o200k_base': {
        const [{ default: tokens }, { O200KBase }] = await Promise.all([
          import('gpt-tokenizer/bpeRanks/o200k_base'),
          import('gpt-tokenizer/encodingParams/o200k_base'),
        ]);
        return vocabularyOf(O200KBase(tokens).tokenSplitRegex, tokens);
      }
      case 'cl100k_base': {
        const [{ default: tokens }, { Cl100KBase }] = await Promise.all([
          import('gpt-tokenizer/bpeRanks/cl100k_base'),
          import('gpt-tokenizer/encodingParams/cl100k_base'),
        ]);
        return vocabularyOf(Cl100KBase(tokens).tokenSplitRegex, tokens);
      }
    }
  }
}

function vocabularyOf(pattern: RegExp, tokens: readonly ListedToken[]): Vocabulary {
  // Copied, since a global regular expression has state.
  return { pieces: new RegExp(pattern.source, pattern.flags), ranks: new RankRegistry(tokens) };
}
