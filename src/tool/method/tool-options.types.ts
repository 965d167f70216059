import type { JsonSchema } from '../../common/index.js';
import type { DtoClass } from '../input/nested-class.accessor.js';
import type { StandardInputSchema } from '../standard-schema.types.js';
import type { ToolHandling } from '../tool-handling.types.js';

/** What stands in `@Tool({…})`. */
export interface ToolOptions extends Omit<ToolHandling, 'output'> {
  /** Unique in the application, `[A-Za-z0-9_-]{1,64}`; by default the method's name. */
  readonly name?: string;
  /** For the model: what the tool does and when to use it. */
  readonly description: string;
  /**
   * The shape of the arguments: a schema, or a DTO class; without it the method's first parameter says it (a DTO class,
   * `string` or none).
   */
  readonly input?: StandardInputSchema | JsonSchema | DtoClass;
  /** The shape of the result: a schema, or a DTO class; a result of another shape is an error. */
  readonly output?: StandardInputSchema | JsonSchema | DtoClass;
  /** For a method that takes one `string`: what the model is to write there. */
  readonly paramsDescription?: string;
  /** The name of a method of the same provider that finds out what became of a call, by its key; see `Reconciliation`. */
  readonly reconcile?: string;
}
