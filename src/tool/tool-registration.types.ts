import type { JsonSchema } from '../kernel/index.js';
import type { Parameter } from './parameter.builder.js';
import type { StateInjection } from './stateful/state-argument.policy.js';
import type { StandardInputSchema } from './standard-schema.types.js';
import type { ToolHandling } from './tool-handling.types.js';
import type { ToolContext } from './tool.types.js';

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
