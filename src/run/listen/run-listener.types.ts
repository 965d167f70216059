import type { RunRecord } from '../run.types.js';
import type { RunEventPattern, PublishedEvent, PublishedType } from './run-event-pattern.policy.js';

/** The run of an event. */
export type RunOrigin = Pick<RunRecord, 'id' | 'tenant' | 'sessionId' | 'agent'>;

type Matching<P extends RunEventPattern> = P extends '**'
  ? PublishedType
  : P extends `${infer Group}.*`
    ? Extract<PublishedType, `${Group}.${string}`>
    : P;

/** An event and its run, for listeners of all runs. Frozen, as all listeners share it. */
export interface RunNotice<P extends RunEventPattern = '**'> {
  readonly runId: string;
  readonly tenant: string;
  readonly sessionId: string | null;
  readonly agent: string;
  /** Time of the event, epoch ms. */
  readonly at: number;
  /** As in the journal and in a stream. */
  readonly event: Extract<PublishedEvent, { readonly type: Matching<P> }>;
}

/** May be slow, throw or reject: the run does not wait for it. */
export type RunNoticeListener<P extends RunEventPattern = '**'> = (notice: RunNotice<P>) => unknown;
