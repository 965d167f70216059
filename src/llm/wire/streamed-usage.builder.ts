import type { ReportedUsage } from './reply.parser.js';

/**
 * Merges the counts of a stream. Providers send them in the last chunk, in several chunks, or split over two. The
 * largest value of each count applies, so that zeros at the end do not replace earlier counts. Completion counts that
 * arrive before the last chunk of the reply are incomplete and are dropped.
 */
export class StreamedUsageBuilder {
  private counts: ReportedUsage = {};
  /** Length of the reply at the last counts, in UTF-16 units. */
  private countedLength = 0;

  /** @param length length of the reply so far, in UTF-16 units */
  add(reported: ReportedUsage, length: number): void {
    const before = this.complete(length);
    const merged: Record<string, unknown> = { ...before };
    for (const [name, value] of Object.entries(reported)) {
      const known = merged[name];
      if (typeof value === 'number' && !(typeof known === 'number' && known > value)) merged[name] = value;
    }
    this.counts = merged;
    this.countedLength = length;
  }

  /** The counts that are valid for a reply of this length. */
  complete(length: number): ReportedUsage {
    if (length <= this.countedLength) return this.counts;
    const { promptTokens, cachedTokens, cacheWriteTokens } = this.counts;
    return { promptTokens, cachedTokens, cacheWriteTokens };
  }
}
