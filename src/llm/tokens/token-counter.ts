/** Counts or estimates the tokens of a text for one model. */
export interface TokenCounter {
  /** Whether it uses the model's vocabulary. Even then, long texts are extrapolated from samples. */
  readonly isExact: boolean;
  count(text: string): number;
}

/** Minimum number of cached texts; the maximum is twice as many. */
const REMEMBERED = 50;
/** Minimum length of a cached text, in UTF-16 units: shorter ones are faster to count than to look up. */
const WORTH_IT = 32;

/** Caches the counts of repeated texts, such as instructions and tools. */
export class RepeatedTokenCounter implements TokenCounter {
  readonly isExact: boolean;
  private recent = new Map<string, number>();
  private before = new Map<string, number>();

  constructor(private readonly counter: TokenCounter) {
    this.isExact = counter.isExact;
  }

  count(text: string): number {
    if (text.length < WORTH_IT) return this.counter.count(text);
    const known = this.recent.get(text);
    if (known !== undefined) return known;
    const tokens = this.before.get(text) ?? this.counter.count(text);
    if (this.recent.size >= REMEMBERED) {
      this.before = this.recent;
      this.recent = new Map();
    }
    this.recent.set(text, tokens);
    return tokens;
  }
}
