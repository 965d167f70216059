/** Counts or estimates the tokens of a text for one model. */
export interface TokenCounter {
  /** Whether it uses the model's vocabulary. Even then, long texts are extrapolated from samples. */
  readonly isExact: boolean;
  count(text: string): number;
}
