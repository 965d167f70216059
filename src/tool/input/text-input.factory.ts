import type { SyncInputSource } from './input.types.js';
import { createSchemaInput } from './schema-input.factory.js';

/** Input of a tool with one string: the model sends it as `input`, the tool receives the plain string. */
export function createTextInput(description = 'The input, as plain text.'): SyncInputSource {
  const base = createSchemaInput({
    type: 'object',
    properties: { input: { type: 'string', description } },
    required: ['input'],
  });
  return {
    schema: base.schema,
    validate(args) {
      const checked = base.validate(args);
      return checked.valid ? { valid: true, value: (checked.value as { input: string }).input } : checked;
    },
  };
}
