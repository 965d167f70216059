import type { JsonSchema, JsonValue } from '../kernel/index.js';
import { toCurrentDraft } from './input/draft7.mapper.js';
import { createValueCheck } from './input/schema-input.factory.js';
import { jsonSchemaOf } from './input/standard-input.factory.js';
import { isStandardSchema } from './standard-schema.types.js';
import type { ToolHandling } from './tool-handling.types.js';
import type { ToolInput } from './tool.types.js';

/** Output schema of a tool and the check of results against it. */
export interface OutputSource {
  readonly schema: JsonSchema;
  check(result: JsonValue): ToolInput;
}

/** @throws AppError `TOOL_INVALID` for an unusable schema */
export function createOutputCheck(output: NonNullable<ToolHandling['output']>): OutputSource {
  const schema = isStandardSchema(output) ? jsonSchemaOf(output, 'its output', 'output') : toCurrentDraft(output);
  return { schema, check: createValueCheck(schema, 'result', 'its output') };
}
