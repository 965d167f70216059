import type { JsonSchema } from '../kernel/json/index.js';
import type { Parameter } from './input/parameter.builder.js';
import type { StandardInputSchema } from './input/standard-schema.types.js';
import type { StateInjection } from './stateful/state-argument.policy.js';
import type { StatefulOptions } from './stateful/stateful-options.policy.js';
import type { ToolApproval, ToolContext, ToolEffect, ToolResources } from './tool.types.js';

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
  /**
   * Whether a call can carry data out or change something. Default: true for the effect `once`, and for `untrusted`
   * tools that accept free text. `strict`: only under the rule `strict`.
   */
  readonly egress?: boolean | 'strict';
  /** Whether results may contain untrusted text such as web pages, mails or files (prompt injection). */
  readonly untrusted?: boolean;
  /** Whether results are private data, which must not leave unnoticed; default true. */
  readonly private?: boolean;
  /** Resources that calls use. Calls of one reply that change the same resource run one after the other. */
  readonly resources?: ToolResources;
  /** Whether calls in one session share a stored state, and its options; see `ToolState`. */
  readonly stateful?: boolean | StatefulOptions;
  /** Schema of the result; a result that does not match is an error. */
  readonly output?: StandardInputSchema | JsonSchema;
}

/** Releases the resources that a tool holds per context in this process, beside its state. */
export interface ContextHolder {
  /** Releases the resources of a context, if any, as soon as no call uses them. Never throws. */
  release(contextId: string): void;
  /** Releases all resources. Never throws. */
  releaseAll(): Promise<void>;
}

/** Declaration of a tool that is registered at run time. By default the arguments of a stateful one contain its state. */
export interface ToolRegistration extends ToolHandling, StateInjection {
  /** Unique in the application, `[A-Za-z0-9_-]{1,64}`. */
  readonly name: string;
  /** Description for the model: purpose of the tool and when to use it. */
  readonly description: string;
  /** Schema of the arguments; by default the tool has no parameters. */
  readonly parameters?: JsonSchema | StandardInputSchema | readonly Parameter[];
  /**
   * Receives the validated arguments. The (resolved) return value is the result; a thrown error is reported to the
   * model.
   */
  // Method syntax, so that a handler can declare the argument type that matches `parameters`.
  handler(args: never, context: ToolContext): unknown;
  /** Determines the outcome of a call that was started before a crash, by its key; returns a `Reconciliation`. */
  reconcile?(key: string, context: ToolContext): unknown;
  /**
   * Stateful tools only: holder of the instances of each context, created by `adaptStateful`. A `state` in the return
   * value is then part of the result.
   */
  readonly holder?: ContextHolder;
  /** Place of the declaration, used in error messages. */
  readonly source?: string;
}
