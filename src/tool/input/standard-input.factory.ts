import { AppError, messageOf } from '../../common/index.js';
import type { StandardInputSchema, StandardIssue } from '../standard-schema.types.js';
import type { ToolInput } from '../tool.types.js';
import type { InputSource } from './input.types.js';
import { joinedPath, typeText } from './reason.mapper.js';
import { createSchemaInput } from './schema-input.factory.js';

/**
 * The input of a tool whose arguments a Standard Schema describes: its JSON Schema is checked first, then its own
 * validator, whose output the tool gets. Throws `TOOL_INVALID` when the schema cannot be written as JSON Schema.
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
 * The JSON Schema of what a Standard Schema takes, or gives. Throws `TOOL_INVALID` when it cannot describe itself.
 * @param what the schema is of
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
