/** What a tool holds for contexts in this process, beside their state. */
export interface ContextHolder {
  /** Gives back what is held for a context, if anything, once no call uses it. Never throws. */
  release(contextId: string): void;
  /** Gives back all of it. Never throws. */
  releaseAll(): Promise<void>;
}
