import type { JsonSchema } from '../../common/index.js';
import type { ToolInput } from '../tool.types.js';

/** Where a tool's input comes from: one JSON Schema for the model, and the check that holds to it. */
export interface InputSource {
  /** 2020-12, closed, without `$schema`. */
  readonly schema: JsonSchema;
  validate(args: unknown): ToolInput | Promise<ToolInput>;
}

/** An input whose check needs no waiting. */
export interface SyncInputSource extends InputSource {
  validate(args: unknown): ToolInput;
}
