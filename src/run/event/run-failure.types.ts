/** Error of a run or of a part of it; wire form. */
export interface RunFailure {
  readonly code: string;
  readonly message: string;
  readonly is_retryable: boolean;
  readonly details?: Readonly<Record<string, unknown>>;
}
