/** Tokens as counted by the provider, summed over a run's model calls. */
export interface RunUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  /** Prompt tokens that the provider read from its cache, if reported. */
  readonly cached_tokens?: number;
  /** Prompt tokens that the provider wrote to its cache, if reported. */
  readonly cache_write_tokens?: number;
  /** Completion tokens of hidden reasoning, if reported. */
  readonly reasoning_tokens?: number;
  /** Sum over the calls of models with a price, in the unit of `LLM_PRICES`. */
  readonly cost?: number;
}
