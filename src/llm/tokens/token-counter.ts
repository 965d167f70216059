/** Counts tokens as one model does, or estimates them. */
export interface TokenCounter {
  /** Whether it has the model's own vocabulary. Even then a long text is extrapolated from samples. */
  readonly isExact: boolean;
  count(text: string): number;
}
