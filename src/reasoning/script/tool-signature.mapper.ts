import type { JsonSchema } from '../../kernel/json/index.js';
import type { ToolDefinition } from '../../tool/index.js';

/** Maximum depth of nested types; deeper ones, such as those of a recursive schema, are `unknown`. */
const MAX_DEPTH = 6;

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

const SIMPLE: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** A schema, the document that its references point into, and the types that may still be nested. */
interface Place {
  readonly root: JsonSchema;
  readonly depth: number;
}

/** A tool as a method of `tools` in TypeScript: description, types of the arguments, and type of the result. */
export function toolSignature({ name, description, inputSchema, outputSchema }: ToolDefinition): string {
  const input = typeOf(inputSchema, { root: inputSchema, depth: MAX_DEPTH });
  const output = outputSchema ? typeOf(outputSchema, { root: outputSchema, depth: MAX_DEPTH }) : 'unknown';
  return `${comment(description)}\n${keyOf(name)}(input: ${input}): Promise<${output}>;`;
}

function typeOf(schema: unknown, { root, depth }: Place): string {
  if (schema === true) return 'unknown';
  if (schema === false) return 'never';
  if (typeof schema !== 'object' || schema === null || depth === 0) return 'unknown';
  const given = schema as JsonSchema;
  const place = { root, depth: depth - 1 };
  const { $ref: reference, type } = given;
  if (typeof reference === 'string') return typeOf(resolve(reference, root), place);
  return valueType(given) ?? combinedType(given, place) ?? typesNamed(type, given, place);
}

/** The type of listed values. */
function valueType({ const: constant, enum: values }: JsonSchema): string | undefined {
  if (constant !== undefined) return JSON.stringify(constant);
  return Array.isArray(values) ? union(values.map((value) => JSON.stringify(value))) : undefined;
}

function combinedType({ anyOf, oneOf, allOf }: JsonSchema, place: Place): string | undefined {
  const alternatives = anyOf ?? oneOf;
  if (Array.isArray(alternatives)) return union(alternatives.map((one) => typeOf(one, place)));
  return Array.isArray(allOf) ? allOf.map((one) => typeOf(one, place)).join(' & ') : undefined;
}

function typesNamed(type: unknown, given: JsonSchema, place: Place): string {
  if (Array.isArray(type)) return union(type.map((one) => typeNamed(one, given, place)));
  return typeNamed(type ?? (given['properties'] ? 'object' : undefined), given, place);
}

function typeNamed(type: unknown, schema: Readonly<Record<string, unknown>>, place: Place): string {
  if (type === 'array') return arrayType(schema['items'], place);
  if (type === 'object') return objectType(schema, place);
  return SIMPLE[String(type)] ?? 'unknown';
}

function arrayType(items: unknown, place: Place): string {
  const item = items === undefined ? 'unknown' : typeOf(items, place);
  return item.includes(' ') ? `(${item})[]` : `${item}[]`;
}

function objectType({ properties, required, additionalProperties }: JsonSchema, place: Place): string {
  const names = Array.isArray(required) ? required : [];
  const fields = Object.entries((properties ?? {}) as Record<string, unknown>).map(([name, schema]) => {
    const { description } = (schema ?? {}) as { readonly description?: unknown };
    const text = typeof description === 'string' && description.trim() !== '' ? `${comment(description)} ` : '';
    return `${text}${keyOf(name)}${names.includes(name) ? '' : '?'}: ${typeOf(schema, place)}`;
  });
  const isOpen = additionalProperties !== undefined && additionalProperties !== false;
  if (isOpen) fields.push(`[key: string]: ${fields.length > 0 ? 'unknown' : typeOf(additionalProperties, place)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join('; ')} }`;
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ');
}

function keyOf(name: string): string {
  return IDENTIFIER.test(name) ? name : JSON.stringify(name);
}

/** A comment that its text cannot end. */
function comment(text: string): string {
  return `/** ${text.trim().replaceAll(/\s+/g, ' ').replaceAll('*/', '* /')} */`;
}

/** The part of the document at a reference such as `#/$defs/place`; `undefined` for another one. */
function resolve(reference: string, root: JsonSchema): unknown {
  if (!reference.startsWith('#')) return undefined;
  const keys = reference.slice(1).split('/').slice(1);
  return keys.reduce<unknown>((part, key) => {
    const name = decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof part === 'object' && part !== null && Object.hasOwn(part, name)
      ? (part as Readonly<Record<string, unknown>>)[name]
      : undefined;
  }, root);
}
