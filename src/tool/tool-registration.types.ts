import type { JsonSchema } from '../common/index.js';
import type { Parameter } from './parameter.builder.js';
import type { StandardInputSchema } from './standard-schema.types.js';
import type { ContextHolder } from './state/context-holder.types.js';
import type { ToolHandling } from './tool-handling.types.js';
import type { ToolContext } from './tool.types.js';

/** A tool as it is registered at run time. */
export interface ToolRegistration extends ToolHandling {
  /** Unique in the application, `[A-Za-z0-9_-]{1,64}`. */
  readonly name: string;
  /** For the model: what the tool does and when to use it. */
  readonly description: string;
  /** The shape of the arguments; without it the tool takes none. */
  readonly parameters?: JsonSchema | StandardInputSchema | readonly Parameter[];
  /** Takes the checked arguments; what it returns or resolves to is the result, what it throws goes to the model. */
  // A method, so that a handler may name the shape it declared in `parameters`.
  handler(args: never, context: ToolContext): unknown;
  /** Finds out what became of a call that was begun before a crash, by its key; gives a `Reconciliation`. */
  reconcile?(key: string, context: ToolContext): unknown;
  /** Of a stateful tool: under which name `args` holds a copy of the business state; by default `state`. */
  readonly stateParameterName?: string;
  /** Of a stateful tool: what it holds beside the state, as `adaptStateful` makes it. A `state` in what it returns is then a part of the result. */
  readonly holder?: ContextHolder;
  /** Where it comes from, for people; errors name it. */
  readonly source?: string;
}
