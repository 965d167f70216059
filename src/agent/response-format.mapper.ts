import { hasExact, messageOf, withRounded, type JsonSchema } from '../common/index.js';
import type { ResponseFormat } from '../llm/index.js';
import { assertFormat } from '../reasoning/index.js';
import { closeSchema, isStandardSchema, jsonSchemaOf, type StandardInputSchema } from '../tool/index.js';

/**
 * A format as it is given: a schema is a JSON Schema or, in code, a Standard Schema such as zod's. That is kept as its JSON
 * Schema, since definitions and inputs are stored: what it refines or transforms beside that is for who has it in code
 * (`asSchemaOutput`).
 */
export type GivenFormat =
  | 'json'
  | StandardInputSchema
  | {
      readonly schema: JsonSchema | StandardInputSchema;
      /** What the answer is called, where the provider wants it to have a name; 1 to 64 of A-Z a-z 0-9 _ -. */
      readonly name?: string;
    };

/** A format as it is stored, with its schema as JSON Schema, or what is wrong with the given one, or with that part of it. */
export type ReadFormat =
  { readonly format: ResponseFormat } | { readonly problem: string; readonly at?: 'schema' | 'name' };

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

export function readFormat(given: unknown): ReadFormat {
  if (given === 'json') return { format: given };
  if (!isObject(given)) return { problem: 'it must be "json" or {"schema": …}' };
  if (isStandardSchema(given)) return readSchema(given);
  const { schema, name, ...unknown } = given as Partial<Record<string, unknown>>;
  const more = Object.keys(unknown);
  if (more.length > 0) return { problem: `it has ${more.join(', ')}; it may have schema and name` };
  if (!isObject(schema)) return { at: 'schema', problem: 'its schema must be a JSON Schema, as an object' };
  if (name === undefined) return within(readSchema(schema));
  if (typeof name !== 'string' || !NAME.test(name)) {
    return { at: 'name', problem: 'its name must be 1 to 64 of A-Z a-z 0-9 _ -' };
  }
  return within(readSchema(schema, { name }));
}

function within(read: ReadFormat): ReadFormat {
  return 'problem' in read ? { ...read, at: 'schema' } : read;
}

function readSchema(given: object, named: { readonly name?: string } = {}): ReadFormat {
  try {
    const format = { schema: toJsonSchema(given), ...named };
    assertFormat(format);
    return { format };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** All is read as 2020-12. A library's objects are open as JSON Schema, although most drop what they do not know. */
function toJsonSchema(given: object): JsonSchema {
  if (isStandardSchema(given)) return closeSchema(jsonSchemaOf(given, 'its schema'));
  // The limits of a schema are numbers.
  const { $schema: _dropped, ...schema } = (hasExact(given) ? withRounded(given) : given) as JsonSchema;
  return schema;
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null && !Array.isArray(value)) || typeof value === 'function';
}
