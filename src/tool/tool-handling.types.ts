import type { JsonSchema } from '../common/index.js';
import type { StandardInputSchema } from './standard-schema.types.js';
import type { StatefulOptions } from './state/stateful-options.types.js';
import type { ToolApproval, ToolEffect, ToolResources } from './tool.types.js';

/** Settings for the execution of a tool, independent of the kind of tool. */
export interface ToolHandling {
  /** Default `once`: a call is never repeated after a crash. */
  readonly effect?: ToolEffect;
  /** Time limit of one call from the start of the tool's code, retries included, in ms. */
  readonly timeoutMs?: number;
  /** Whether a call needs approval: `never` (default), `always`, or a predicate of its validated input. */
  readonly approval?: ToolApproval;
  /** Maximum retries of a failed call, 0 (default) to 10; not for the effect `once`. */
  readonly retries?: number;
  /**
   * Time to live of a cached result, in ms; only the same principal with the same roles and arguments gets it. Default:
   * no cache. For the effect `read` only.
   */
  readonly cacheTtlMs?: number;
  /** Maximum concurrent calls in this process; further calls wait. Default: no limit. */
  readonly concurrency?: number;
  /**
   * Maximum wait of a call for its turn, in ms; default 300,000. Only for a tool whose calls can wait: with
   * `concurrency`, `resources` or `stateful`.
   */
  readonly queueTimeoutMs?: number;
  /** Whether a call can send data out of the application; default true for the effect `once` only. */
  readonly egress?: boolean;
  /** Whether results may contain untrusted text such as web pages, mails or files (prompt injection). */
  readonly untrusted?: boolean;
  /** Resources that calls use. Calls of one reply that change the same resource run one after the other. */
  readonly resources?: ToolResources;
  /** Whether calls in one session share a stored state, and its options; see `ToolState`. */
  readonly stateful?: boolean | StatefulOptions;
  /** Schema of the result; a result that does not match is an error. */
  readonly output?: StandardInputSchema | JsonSchema;
}
