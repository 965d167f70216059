import type { JsonSchema } from '../../kernel/index.js';
import type { DtoClass } from '../input/nested-class.accessor.js';
import type { StandardInputSchema } from '../standard-schema.types.js';
import type { StateInjection } from '../stateful/state-argument.policy.js';
import type { ToolHandling } from '../tool-handling.types.js';

/** Options of `@Tool({…})`. A method's arguments contain its state only with `stateInjection` or `stateParameterName`. */
export interface ToolOptions extends Omit<ToolHandling, 'output'>, StateInjection {
  /** Unique in the application, `[A-Za-z0-9_-]{1,64}`; default: the method's name. */
  readonly name?: string;
  /** Description for the model: purpose of the tool and when to use it. */
  readonly description: string;
  /**
   * Schema of the arguments, or a DTO class. Default: the type of the method's first parameter (a DTO class, `string`
   * or none).
   */
  readonly input?: StandardInputSchema | JsonSchema | DtoClass;
  /** Schema of the result, or a DTO class; a result that does not match is an error. */
  readonly output?: StandardInputSchema | JsonSchema | DtoClass;
  /** Description of the parameter, for a method with one `string`. */
  readonly paramsDescription?: string;
  /** Name of a method of the same provider that determines the outcome of a call by its key; see `Reconciliation`. */
  readonly reconcile?: string;
}
