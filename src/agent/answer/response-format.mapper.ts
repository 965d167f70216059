import { messageOf } from '../../errors/index.js';
import { hasExact, withRounded, type JsonSchema } from '../../kernel/json/index.js';
import type { ResponseFormat } from '../../llm/chat/index.js';
import { assertFormat } from '../../reasoning/index.js';
import { closeSchema, isStandardSchema, jsonSchemaOf, type StandardInputSchema } from '../../tool/input/index.js';

/**
 * A format as input: a JSON Schema or, in code, a Standard Schema such as zod's. Definitions and run inputs store its
 * JSON Schema only; `asSchemaOutput` applies the refinements and transformations of the Standard Schema.
 */
export type GivenFormat =
  | 'json'
  | StandardInputSchema
  | {
      readonly schema: JsonSchema | StandardInputSchema;
      /** Name of the answer for providers that require one; 1 to 64 of A-Z a-z 0-9 _ -. */
      readonly name?: string;
    };

/** A format in its stored form, with a JSON Schema; else the problem, and the faulty part if known. */
export type ReadFormat =
  { readonly format: ResponseFormat } | { readonly problem: string; readonly at?: 'schema' | 'name' };

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

export function readFormat(declared: unknown): ReadFormat {
  if (declared === 'json') return { format: declared };
  if (!isObject(declared)) return { problem: 'it must be "json" or {"schema": …}' };
  if (isStandardSchema(declared)) return readSchema(declared);
  const { schema, name, ...unknown } = declared as Partial<Record<string, unknown>>;
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

function readSchema(declared: object, named: { readonly name?: string } = {}): ReadFormat {
  try {
    const format = { schema: toJsonSchema(declared), ...named };
    assertFormat(format);
    return { format };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/**
 * Reads every schema as JSON Schema 2020-12. Objects of a Standard Schema are closed, because most libraries drop
 * unknown properties.
 */
function toJsonSchema(declared: object): JsonSchema {
  if (isStandardSchema(declared)) return closeSchema(jsonSchemaOf(declared, 'its schema'));
  // Converts exact numbers, because schema limits must be plain numbers.
  const { $schema: _dropped, ...schema } = (hasExact(declared) ? withRounded(declared) : declared) as JsonSchema;
  return schema;
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null && !Array.isArray(value)) || typeof value === 'function';
}
