import type { RunUsage } from '../run-event.types.js';

/** Which calls are summed up; what is left out does not matter. */
export interface UsageFilter {
  /** Those of every tenant when left out: not for who belongs to one. */
  readonly tenant?: string;
  readonly sessionId?: string;
  /** The first day, UTC: `2027-01-31`. */
  readonly from?: string;
  /** The last day. */
  readonly to?: string;
}

/** By what sums are told apart. */
export type UsageKind = 'day' | 'session' | 'model' | 'tenant';

/** What calls took together. */
export interface UsageSum {
  readonly calls: number;
  readonly usage: RunUsage;
}

/** The sum of a day, a session, a model or a tenant. */
export interface UsageEntry extends UsageSum {
  /** Its name; of sessions, empty for what belongs to none. */
  readonly key: string;
}

export interface UsagePage {
  /** By their keys. */
  readonly entries: readonly UsageEntry[];
  /** The key to go on after; `null` on the last page. */
  readonly next: string | null;
}
