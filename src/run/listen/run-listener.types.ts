import type { RunRecord } from '../run.types.js';
import type { RunEventPattern, ToldEvent, ToldType } from './run-event-pattern.policy.js';

/** Whose event it is. */
export type TellingRun = Pick<RunRecord, 'id' | 'tenant' | 'sessionId' | 'agent'>;

type Matching<P extends RunEventPattern> = P extends '**'
  ? ToldType
  : P extends `${infer Family}.*`
    ? Extract<ToldType, `${Family}.${string}`>
    : P;

/** What those who listen to all runs are told: an event, and whose it is. Frozen, as all of them get the same one. */
export interface RunNotice<P extends RunEventPattern = '**'> {
  readonly runId: string;
  readonly tenant: string;
  readonly sessionId: string | null;
  readonly agent: string;
  /** As it stands in the journal and in a stream. */
  readonly event: Extract<ToldEvent, { readonly type: Matching<P> }>;
}

/** May be slow, throw or reject: nobody waits for it. */
export type RunNoticeListener<P extends RunEventPattern = '**'> = (notice: RunNotice<P>) => unknown;
