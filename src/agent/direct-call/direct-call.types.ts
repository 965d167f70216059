import type { JsonValue } from '../../common/index.js';
import type { WaitingRules } from '../../reasoning/index.js';
import type {
  IdempotentRequest,
  RunHandle,
  RunListener,
  RunStatus,
  ToldImage,
  WaitingRequest,
} from '../../run/index.js';

/** What a direct call's run executes, as the journal holds it. */
export interface DirectCallDefinition {
  readonly tool: string;
  /** UTF-8 bytes of the result that are kept. */
  readonly maxResultBytes: number;
  readonly waiting: Pick<WaitingRules, 'expiresMs'>;
}

/** The input of a direct call's run. */
export interface DirectCallInput {
  /** JSON text of an object. */
  readonly arguments: string;
}

/** A call that a person asks for, without an agent. */
export interface DirectCallRequest {
  /** None when left out. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** For the tool to know: the call holds this session while it runs, and leaves its history as it is. */
  readonly sessionId?: string;
  /** Milliseconds from now after which the call goes on no more. */
  readonly deadlineMs?: number;
  /** Makes a repetition of the request the same run. */
  readonly idempotency?: IdempotentRequest;
}

/** What came of a direct call so far; wire form. */
export interface DirectCallAnswer {
  readonly run_id: string;
  readonly session_id: string | null;
  readonly tool: string;
  readonly status: RunStatus;
  /** Once there is a result. */
  readonly success?: boolean;
  readonly result?: JsonValue;
  /** Of what it shows beside that: the run's journal has the images whole. */
  readonly images?: ToldImage[];
  /** The number of its other images: too many, too large, or no PNG, JPEG, GIF or WebP. */
  readonly images_left_out?: number;
  /** Why it did not succeed, and the code of that. */
  readonly error?: string;
  readonly code?: string;
  readonly execution_time_ms?: number;
  /** What must be decided before it goes on; only while it waits. */
  readonly waiting?: WaitingRequest[];
}

/** Who follows a direct call. */
export interface CallWatch {
  /** The id that its run gets; one is made when left out. */
  readonly runId?: string;
  /** Gets the run as soon as it is journaled. */
  readonly onStart?: (run: RunHandle) => void;
  /** Gets everything that the run tells. */
  readonly onItem?: RunListener;
}
