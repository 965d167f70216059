/** Releases the resources that a tool holds per context in this process, beside its state. */
export interface ContextHolder {
  /** Releases the resources of a context, if any, as soon as no call uses them. Never throws. */
  release(contextId: string): void;
  /** Releases all resources. Never throws. */
  releaseAll(): Promise<void>;
}
