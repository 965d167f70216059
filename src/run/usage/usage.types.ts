import type { Principal } from '../../kernel/index.js';
import type { RunUsage } from '../run-event.types.js';

/** The filter of a usage sum; absent fields match every call. */
export interface UsageFilter {
  /** The caller, who may not see every call; if absent, the calls of all tenants count. */
  readonly principal?: Principal;
  readonly sessionId?: string;
  readonly agent?: string;
  readonly model?: string;
  /** The first day, UTC: `2027-01-31`. */
  readonly from?: string;
  /** The last day. */
  readonly to?: string;
}

/** The grouping of sums. */
export type UsageKind = 'day' | 'session' | 'agent' | 'model' | 'tenant';

/** Total usage of several calls. */
export interface UsageSum {
  readonly calls: number;
  readonly usage: RunUsage;
}

/** The sum of a day, a session, an agent, a model or a tenant. */
export interface UsageEntry extends UsageSum {
  /** Its name; empty for calls without a session, and for calls of deleted runs, whose agent is unknown. */
  readonly key: string;
}

export interface UsagePage {
  /** Ordered by key. */
  readonly entries: readonly UsageEntry[];
  /** The key after which the next page starts; `null` on the last page. */
  readonly next: string | null;
}
