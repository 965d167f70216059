import type { TokenCounter } from './token-counter.js';

/** Texts that are remembered for sure; at most twice as many. */
const REMEMBERED = 50;
/** Shorter ones are counted sooner than they are looked up, in UTF-16 units. */
const WORTH_IT = 32;

/** Counts what comes again and again, instructions and tools, once: the last fifty texts, as another counter does. */
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
