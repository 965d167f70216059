import type { JsonSchema } from '../common/index.js';
import type { StandardInputSchema } from './standard-schema.types.js';
import type { StatefulOptions } from './state/stateful-options.types.js';
import type { ToolApproval, ToolEffect, ToolResources } from './tool.types.js';

/** How a tool wants to be handled, as its author says it; the same whatever kind of tool it is. */
export interface ToolHandling {
  /** By default `once`: a call is never repeated after a crash. */
  readonly effect?: ToolEffect;
  /** The longest one call may take from the start of the tool's code, its retries included, in ms. */
  readonly timeoutMs?: number;
  /** When a person must agree to a call: `never` (the default), `always`, or what a predicate says of its checked input. */
  readonly approval?: ToolApproval;
  /** How often a call that failed is made again, 0 (the default) to 10; not for the effect `once`. */
  readonly retries?: number;
  /** How long a result serves the same tenant's same call again, in ms; by default not at all. For the effect `read` only. */
  readonly cacheTtlMs?: number;
  /** The most calls that run at once in this process; others wait. By default any number. */
  readonly concurrency?: number;
  /**
   * The longest wait of a call for its turn, in ms; 300,000 by default. Only for a tool whose calls wait: with
   * `concurrency`, `resources` or `stateful`.
   */
  readonly queueTimeoutMs?: number;
  /** Whether a call can carry data out of the application; by default so for the effect `once`. */
  readonly egress?: boolean;
  /** Whether results hold text of strangers (web pages, mails, files), so that a run that read one is led astray easily. */
  readonly untrusted?: boolean;
  /** What calls work on: those of one reply that would change the same thing are made one after the other. */
  readonly resources?: ToolResources;
  /** Whether calls in one session share a state that is kept for them, and how; see `ToolState`. */
  readonly stateful?: boolean | StatefulOptions;
  /** The shape of the result; a result of another shape is an error. */
  readonly output?: StandardInputSchema | JsonSchema;
}
