import type { JsonSchema } from '../common/index.js';
import type { Parameter } from './parameter.builder.js';
import type { StandardInputSchema } from './standard-schema.types.js';
import type { ToolApproval, ToolContext, ToolEffect } from './tool.types.js';

/** A tool as it is registered at run time. */
export interface ToolRegistration {
  /** Unique in the application, `[A-Za-z0-9_-]{1,64}`. */
  readonly name: string;
  /** For the model: what the tool does and when to use it. */
  readonly description: string;
  /** The shape of the arguments; without it the tool takes none. */
  readonly parameters?: JsonSchema | StandardInputSchema | readonly Parameter[];
  /** Takes the checked arguments; what it returns or resolves to is the result, what it throws goes to the model. */
  // A method, so that a handler may name the shape it declared in `parameters`.
  handler(args: never, context: ToolContext): unknown;
  /** By default `once`: a call is never repeated after a crash. */
  readonly effect?: ToolEffect;
  /** The longest one call may take, in ms. */
  readonly timeoutMs?: number;
  /** When a person must agree to a call: `never` (the default), `always`, or what a predicate says of its checked input. */
  readonly approval?: ToolApproval;
  /** Finds out what became of a call that was begun before a crash, by its key; gives a `Reconciliation`. */
  reconcile?(key: string, context: ToolContext): unknown;
  /** Where it comes from, for people; errors name it. */
  readonly source?: string;
}
