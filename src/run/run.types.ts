import type { Principal } from '../common/index.js';
import type { Statement } from '../persistence/index.js';
import type { RunLineage } from './child/child-run.types.js';
import type { IdempotentRequest } from './intake/idempotency.store.js';
import type { RunItem } from './run-item.factory.js';
import type { TerminalEvent } from './run-event.types.js';
import type { WaitingRequest } from './decision/waiting-request.types.js';

export type RunStatus = 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';

/** A run as the journal holds it. Times are epoch ms. */
export interface RunRecord {
  readonly id: string;
  readonly tenant: string;
  readonly principal: Principal;
  /** Which `RunHandler` executes it. */
  readonly kind: string;
  readonly agent: string;
  readonly sessionId: string | null;
  readonly status: RunStatus;
  /** Raised by whoever starts the run; only the owner of the current epoch may write to a running run. */
  readonly epoch: number;
  /** The process that runs it, or ran it last; `null` for one that nobody has run. */
  readonly owner: string | null;
  /** Crashes since the last recorded step. */
  readonly attempts: number;
  readonly loopVersion: number;
  readonly definitionHash: string;
  /** JSON text. */
  readonly definition: string;
  /** JSON text. */
  readonly input: string;
  readonly timeoutMs: number;
  readonly cancelRequestedAt: number | null;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  /** Of queued runs the higher goes first: 0 to 9. */
  readonly priority: number;
  /** After this time (epoch ms) the run goes on no more. */
  readonly deadlineAt: number | null;
  /** The run whose journal this one began with. */
  readonly forkedFrom: string | null;
  /** Whose call it is; `null` for a run that no other run called. */
  readonly lineage: RunLineage | null;
  /** When its steps and events were deleted. */
  readonly prunedAt: number | null;
  /** JSON text of its end (`RunSummary`). */
  readonly summary: string | null;
}

/** What starts a run. */
export interface StartRun {
  readonly id: string;
  readonly principal: Principal;
  readonly kind: string;
  readonly agent: string;
  readonly sessionId: string | null;
  readonly loopVersion: number;
  /** JSON text of what the run executes; stored once a tenant by its hash. */
  readonly definition: string;
  readonly definitionHash: string;
  /** JSON text. */
  readonly input: string;
  /** The longest one execution of the run may take, in ms. */
  readonly timeoutMs: number;
  /** 0 (the default) to 9: of queued runs the higher goes first. */
  readonly priority?: number;
  /** After this time (epoch ms) the run goes on no more. */
  readonly deadlineAt?: number;
  /** Makes a repetition of the request the same run. */
  readonly idempotency?: IdempotentRequest;
  /** Throws what keeps the run from beginning; not asked for a repetition, which is told what came of the first. */
  readonly check?: () => Promise<void>;
  /** Whether the run begins its session, so that no other run can hold it: the model is then asked at once. */
  readonly isFirstOfSession?: boolean;
  /** Whether nobody is told of the run before it ends, so that its beginning may be committed together with what comes soon. */
  readonly isToldWhole?: boolean;
  /** What it does first may happen again, as asking a model may: it need not wait until its beginning is durable. */
  readonly isEarly?: boolean;
  /** The run whose journal this one begins with: it has begun, and goes on from there. */
  readonly forkedFrom?: string;
  /** Whose call it is, if a run called it. */
  readonly lineage?: RunLineage;
  /** Committed together with the run. */
  readonly statements?: readonly Statement[];
}

/** A run whose beginning is being journaled while it already asks its model. */
export interface RunOpening {
  /** What the beginning tells, once it is written. */
  readonly items: readonly RunItem[];
  /** Resolves when the journal holds the run, whatever becomes of this process. */
  readonly written: Promise<void>;
}

/** What ends with a run. */
export interface RunEnding {
  /** Committed together with the end, the session's turn above all. */
  readonly statements: readonly Statement[];
  /** Called once the end is durable; what it throws is its own fault. */
  readonly ended?: () => Promise<void>;
}

/** How an execution of a run ended. */
export type RunOutcome =
  | (RunEnding & { readonly kind: 'finished'; readonly event: TerminalEvent })
  | { readonly kind: 'waiting'; readonly requests: readonly WaitingRequest[] };

/** A step as it is recorded. */
export interface RecordedStep {
  readonly name: string;
  readonly kind: string;
  /** What the step was about (a tool's or model's name); replaying it about something else is an error. */
  readonly subject: string;
  /** JSON text. */
  readonly result: string;
}
