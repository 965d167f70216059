import type { AppError } from '../errors/index.js';
import type { Principal } from '../kernel/index.js';
import type { Statement } from '../persistence/statement/index.js';
import type { RunLineage } from './tree/child-run.types.js';
import type { RunItem } from './event/run-item.factory.js';
import type { TerminalEvent } from './event/run-event.types.js';
import type { WaitingRequest } from './decision/waiting-request.types.js';

export type RunStatus = 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';

/** A run as stored in the journal. Times are epoch ms. */
export interface RunRecord {
  readonly id: string;
  readonly tenant: string;
  readonly principal: Principal;
  /** Identifies the `RunHandler` that executes the run. */
  readonly kind: string;
  readonly agent: string;
  readonly sessionId: string | null;
  readonly status: RunStatus;
  /** Raised by each claim; only the owner of the current epoch may write to a running run. */
  readonly epoch: number;
  /** The process that executes or last executed the run; `null` for a run that was never started. */
  readonly owner: string | null;
  /** Crashes since the last recorded step. */
  readonly attempts: number;
  /** Number of resumptions as a suspect, one at a time, since the last recorded step: it may have crashed the process. */
  readonly suspicions: number;
  /** The last resumption after a crash. */
  readonly recoveredAt: number | null;
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
  /** 0 to 9; of queued runs the higher starts first. */
  readonly priority: number;
  /** The run must end by this time (epoch ms). */
  readonly deadlineAt: number | null;
  /** The source run of a fork. */
  readonly forkedFrom: string | null;
  /** The position below the calling run; `null` for a run that no run called. */
  readonly lineage: RunLineage | null;
  /** Whether an outage of its provider postpones the run from its first execution on: no client waits for the end. */
  readonly isPatient: boolean;
  /** Time before which a postponed run does not start. */
  readonly notBefore: number | null;
  /** Start of the outage that postponed the run; `null` after its next recorded step. */
  readonly outageSince: number | null;
  /** Code of the error that postponed the run last. */
  readonly outageCode: string | null;
  /** The `traceparent` of the request that started the run or its run tree. */
  readonly traceparent: string | null;
  /** When its steps and events were deleted. */
  readonly prunedAt: number | null;
  /** JSON text of the `RunSummary`; `null` before the run ends. */
  readonly summary: string | null;
}

/** A run without its input, which may be large. */
export type RunHead = Omit<RunRecord, 'input'>;

/** The wait of a client for capacity. */
export interface ClientWait {
  /** The deadline of the request, in ms from now. */
  readonly deadlineMs?: number | undefined;
  /** Aborted when the client has left and its request must not be executed. */
  readonly signal?: AbortSignal | undefined;
}

/** The data of a new run. */
export interface StartRun {
  readonly id: string;
  readonly principal: Principal;
  readonly kind: string;
  readonly agent: string;
  readonly sessionId: string | null;
  readonly loopVersion: number;
  /** JSON text of the executed definition; stored once per tenant and hash. */
  readonly definition: string;
  readonly definitionHash: string;
  /** JSON text. */
  readonly input: string;
  /** The question, whose start lists show; of a workflow its input, of a tool call its arguments. */
  readonly question?: string;
  /** Time limit of one execution, in ms. */
  readonly timeoutMs: number;
  /** 0 (the default) to 9; of queued runs the higher starts first. */
  readonly priority?: number;
  /** The run must end by this time (epoch ms). */
  readonly deadlineAt?: number;
  /** Makes a repeated request return the same run. */
  readonly idempotency?: IdempotentRequest;
  /** Set if a client of an HTTP request waits for the run: its wait for capacity is limited. */
  readonly wait?: ClientWait;
  /** Throws if the run must not start. Not called for an idempotent replay, which gets the outcome of the first run. */
  readonly check?: () => Promise<void>;
  /**
   * Whether this is the session's first run, so that no other run can hold the session; the model is then called at
   * once.
   */
  readonly isFirstOfSession?: boolean;
  /** True if no client observes the run before it ends; lets the start be group-committed. */
  readonly isPublishedWhole?: boolean;
  /** True if the first action may repeat, as a model call may: it need not wait until the start is durable. */
  readonly isEarly?: boolean;
  /** Whether an outage of its provider postpones the run, as no client waits for its end; `submit` sets it. */
  readonly isPatient?: boolean;
  /** The source run of a fork; the new run continues from the copied prefix. */
  readonly forkedFrom?: string;
  /** The position below the calling run, if any. */
  readonly lineage?: RunLineage;
  /** The trace of the run tree; by default that of the present request. */
  readonly traceparent?: string | null;
  /** Committed together with the run. */
  readonly statements?: readonly Statement[];
}

/** Additions of the caller to the batch that starts a run in the background. */
export type SubmittedWith = Partial<Pick<StartRun, 'id' | 'statements'>>;

/** A run whose start is being journaled while its first model call runs. */
export interface RunOpening {
  /** The events of the start, to publish once it is written. */
  readonly items: readonly RunItem[];
  /** Resolves when the journal holds the run, even after a crash of this process. */
  readonly written: Promise<void>;
}

/** Further actions at the end of a run. */
export interface RunEnding {
  /** Committed together with the end, e.g. the session's turn. */
  readonly statements: readonly Statement[];
  /** Called once the end is durable; it handles its own errors. */
  readonly ended?: () => Promise<void>;
}

/** How an execution of a run ended. */
export type RunOutcome =
  | (RunEnding & { readonly kind: 'finished'; readonly event: TerminalEvent })
  | { readonly kind: 'waiting'; readonly requests: readonly WaitingRequest[] }
  | Postponed;

/** The provider of the run is unavailable: the run is queued again, and resumes later. */
export interface Postponed {
  readonly kind: 'postponed';
  /** The error of the model call. */
  readonly outage: AppError;
}

/** Facts about the action of a step; absent for a step that only records a value or a decision. */
export interface StepFacts {
  /** Epoch ms. */
  readonly startedAt?: number;
  /** Time to the first text of a streamed reply, in ms. */
  readonly firstTokenMs?: number | undefined;
  /** Requests to providers for a reply, with retries and fallbacks. */
  readonly attempts?: number | undefined;
  /** `toRequestHash` of the body that was sent last. */
  readonly requestHash?: string | undefined;
}

/** A recorded step. */
export interface RecordedStep extends StepFacts {
  readonly name: string;
  readonly kind: string;
  /** The subject of the step (a tool's or model's name); a replay with another subject is an error. */
  readonly subject: string;
  /** JSON text. */
  readonly result: string;
}

/** A request that takes effect once, however often it is sent. */
export interface IdempotentRequest {
  readonly key: string;
  /** SHA-256 (hex) of the request. */
  readonly bodyHash: string;
}
