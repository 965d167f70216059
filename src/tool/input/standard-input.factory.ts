import { AppError, messageOf } from '../../errors/index.js';
import type { StandardInputSchema, StandardIssue } from './standard-schema.types.js';
import type { ToolInput } from '../tool.types.js';
import type { InputSource } from './input.types.js';
import { joinedPath, typeText } from './reason.mapper.js';
import { createSchemaInput } from './schema-input.factory.js';

/**
 * Input of a tool with a Standard Schema: validates against its JSON Schema, then with its own validator, whose output
 * the tool receives.
 * @throws AppError `TOOL_INVALID` if the schema has no JSON Schema form
 */
export function createStandardInput(schema: StandardInputSchema): InputSource {
  const base = createSchemaInput(jsonSchemaOf(schema), 'refuse');
  return {
    schema: base.schema,
    async validate(args): Promise<ToolInput> {
      const checked = base.validate(args);
      if (!checked.valid) return checked;
      const result = await schema['~standard'].validate(checked.value);
      if (result.issues)
        return { valid: false, reason: result.issues.map((issue) => problemOf(issue, checked.value)).join('; ') };
      return { valid: true, value: result.value };
    },
  };
}

/**
 * JSON Schema of a Standard Schema's input or output. @throws AppError `TOOL_INVALID` if it has none
 * @param what subject of the error message
 */
export function jsonSchemaOf(
  schema: StandardInputSchema,
  what = 'its input',
  side: 'input' | 'output' = 'input',
): Record<string, unknown> {
  const { jsonSchema, vendor } = schema['~standard'];
  if (!jsonSchema) {
    throw new AppError(
      'TOOL_INVALID',
      `${what} is a schema of ${vendor} that cannot describe itself as JSON Schema (~standard.jsonSchema is missing): ` +
        'update that library or give a JSON Schema',
    );
  }
  try {
    return jsonSchema[side]({ target: 'draft-2020-12' });
  } catch (error) {
    throw new AppError('TOOL_INVALID', `${what} cannot be written as JSON Schema: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function problemOf({ message, path = [] }: StandardIssue, args: unknown): string {
  if (path.length === 0) return message;
  const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment));
  const given = keys.reduce((value: unknown, key) => (value as Record<string, unknown> | undefined)?.[key], args);
  return `${JSON.stringify(keys.reduce(joinedPath))}: ${message}, got ${typeText(given)}`;
}
