import type { JsonSchema } from '../../kernel/json/index.js';
import type { ToolInput } from '../tool.types.js';

/** Input of a tool: a JSON Schema for the model and its validation. */
export interface InputSource {
  /** 2020-12, closed, without `$schema`. */
  readonly schema: JsonSchema;
  validate(args: unknown): ToolInput | Promise<ToolInput>;
}

/** An input with synchronous validation. */
export interface SyncInputSource extends InputSource {
  validate(args: unknown): ToolInput;
}
