import type { Principal } from '../common/index.js';
import type { Statement } from '../persistence/index.js';
import type { TerminalEvent, UnknownCall } from './run-event.types.js';

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
  /** Committed together with the run. */
  readonly statements?: readonly Statement[];
}

/** How an execution of a run ended. */
export type RunOutcome =
  | {
      readonly kind: 'finished';
      readonly event: TerminalEvent;
      /** Committed together with the end, the session's turn above all. */
      readonly statements: readonly Statement[];
    }
  | { readonly kind: 'waiting'; readonly calls: readonly UnknownCall[] };

/** A step as it is recorded. */
export interface RecordedStep {
  readonly name: string;
  readonly kind: string;
  /** What the step was about (a tool's or model's name); replaying it about something else is an error. */
  readonly subject: string;
  /** JSON text. */
  readonly result: string;
}
