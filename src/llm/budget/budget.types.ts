/** Tokens, and cost in billionths of the unit of `LLM_PRICES`. */
export interface Amount {
  readonly tokens: number;
  readonly cost: number;
}

export type BudgetName = 'run' | 'session' | 'tenant_day' | 'day';

/** Key prefix of the totals of root runs. */
export const RUN_KEY = 'run:';
/** Key prefix of the totals of an agent's runs. */
export const AGENT_RUN_KEY = 'agent_run:';

/** One budget that limits a call. */
export interface BudgetScope {
  readonly name: BudgetName;
  /** The agent that owns the budget; absent for a budget of the server. */
  readonly agent?: string;
  /** Key of its total. */
  readonly key: string;
  /** Owner of the budget; empty if all tenants share it. */
  readonly tenant: string;
  readonly limit: Amount;
  /** Time of the next reset, epoch ms; `null` if it never resets. */
  readonly resetsAt: number | null;
}

/** The amount that one call has reserved or used. */
export interface BudgetEntry extends Amount {
  /** `runId:step`. */
  readonly id: string;
  readonly runId: string;
  readonly tenant: string;
  /** Id of the reservation; only its holder settles the entry. */
  readonly holder: string;
  /** Keys of the totals that include it. */
  readonly scopes: readonly string[];
  /** Expiry of the reservation, epoch ms; `null` once it is settled. */
  readonly expiresAt: number | null;
}

export const NOTHING: Amount = { tokens: 0, cost: 0 };
