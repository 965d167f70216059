import { countSampled, type Sampling } from './long-text.mapper.js';
import type { TokenCounter } from './token-counter.js';
import { estimateTokens } from './token-estimate.mapper.js';

/** The estimate takes 0.01 to 0.04 ms of CPU per 1,000 characters: 1 to 5 ms for the longest text without sampling. */
const SAMPLING: Sampling = { maxLength: 131_072, windows: 64, windowLength: 2048 };

/**
 * Estimates by known pieces, for models without a local vocabulary. Samples texts of more than 131,072 UTF-16 units.
 */
export class EstimatedTokenCounter implements TokenCounter {
  readonly isExact = false;

  count(text: string): number {
    return countSampled(text, SAMPLING, estimateTokens);
  }
}
