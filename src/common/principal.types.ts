/** Who asks: travels with a request into its run, its session and every tool call. */
export interface Principal {
  readonly id: string;
  readonly tenant: string;
  readonly roles: readonly string[];
}
