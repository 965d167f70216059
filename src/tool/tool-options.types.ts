import type { JsonSchema } from '../common/index.js';
import type { StandardInputSchema } from './standard-schema.types.js';
import type { ToolApproval, ToolEffect } from './tool.types.js';

/** What stands in `@Tool({…})`. */
export interface ToolOptions {
  /** Unique in the application, `[A-Za-z0-9_-]{1,64}`; by default the method's name. */
  readonly name?: string;
  /** For the model: what the tool does and when to use it. */
  readonly description: string;
  /** By default `once`: a call is never repeated after a crash. */
  readonly effect?: ToolEffect;
  /** The shape of the arguments; without it the method's first parameter says it (a DTO class, `string` or none). */
  readonly input?: StandardInputSchema | JsonSchema;
  /** For a method that takes one `string`: what the model is to write there. */
  readonly paramsDescription?: string;
  /** The longest one call may take, in ms. */
  readonly timeoutMs?: number;
  /** When a person must agree to a call: `never` (the default), `always`, or what a predicate says of its checked input. */
  readonly approval?: ToolApproval;
  /** The name of a method of the same provider that finds out what became of a call, by its key; see `Reconciliation`. */
  readonly reconcile?: string;
}
