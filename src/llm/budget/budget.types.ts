/** What is limited: tokens, and billionths of the unit that `LLM_PRICES` are in. */
export interface Amount {
  readonly tokens: number;
  readonly cost: number;
}

export type BudgetName = 'run' | 'session' | 'tenant_day' | 'day';

/** How keys of sums begin that runs at the top have. */
export const RUN_KEY = 'run:';
/** How keys of sums begin that agents' runs have of their own. */
export const AGENT_RUN_KEY = 'agent_run:';

/** One budget that a call counts in. */
export interface BudgetScope {
  readonly name: BudgetName;
  /** The agent whose it is; everybody's without one. */
  readonly agent?: string;
  /** Of the row that has its sum. */
  readonly key: string;
  /** Whose it is; empty where it is everybody's. */
  readonly tenant: string;
  readonly limit: Amount;
  /** When it is whole again, epoch ms; `null` is never. */
  readonly resetsAt: number | null;
}

/** What one call has reserved or used. */
export interface BudgetEntry extends Amount {
  /** `runId:step`. */
  readonly id: string;
  readonly runId: string;
  readonly tenant: string;
  /** Who reserved it last: another one has nothing to settle. */
  readonly holder: string;
  /** Keys of the sums that it is in. */
  readonly scopes: readonly string[];
  /** When it counts no longer if nobody has settled it, epoch ms; `null` once somebody has. */
  readonly expiresAt: number | null;
}

export const NOTHING: Amount = { tokens: 0, cost: 0 };
