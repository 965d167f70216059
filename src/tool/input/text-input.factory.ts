import type { SyncInputSource } from './input.types.js';
import { createSchemaInput } from './schema-input.factory.js';

/** The input of a tool that takes one text: the model writes it as `input`, the tool gets the bare string. */
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
