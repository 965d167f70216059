import type { JsonSchema } from '../kernel/json/index.js';

/** Schema features that a provider can enforce. */
export interface StrictRules {
  /** Maximum optional properties of all objects together. */
  readonly maxOptional: number;
  /** Whether it supports `$ref` to definitions inside the schema. */
  readonly mayRefer: boolean;
}

/** OpenAI and Azure (developers.openai.com, "Structured model outputs"). */
export const OPENAI_STRICT: StrictRules = { maxOptional: 0, mayRefer: true };

type Node = Readonly<Record<string, unknown>>;

/** Structural keywords. A schema with a keyword outside these sets is not supported. */
const STRUCTURE = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'anyOf',
]);
const REFERENCES = new Set(['$ref', '$defs']);
/**
 * Constraints on values: not all providers support them. They go into the description, and the answer is validated
 * later.
 */
const NARROWING = new Set([
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'default',
  'examples',
]);
const ASIDE = new Set(['$schema', '$id', '$comment', 'title', 'description', 'deprecated', 'readOnly', 'writeOnly']);
/** OpenAI's limit ("Structured model outputs"); deeper schemas are not supported. */
const MAX_LEVELS = 5;

/**
 * Converts a schema to the subset that a provider enforces: closed objects, and at most the allowed number of optional
 * properties. Constraints on values move to the descriptions. Undefined if the schema has other features.
 */
export function toStrictSchema(schema: JsonSchema, rules: StrictRules): JsonSchema | undefined {
  if (schema['type'] !== 'object') return undefined;
  try {
    const written = strict(schema, rules, 0);
    return optionalsOf(written) > rules.maxOptional ? undefined : written;
  } catch (thrown) {
    if (thrown instanceof NotStrict) return undefined;
    throw thrown;
  }
}

class NotStrict extends Error {}

function strict(node: unknown, rules: StrictRules, level: number): JsonSchema {
  if (!isNode(node) || level > MAX_LEVELS) throw new NotStrict();
  const written: Record<string, unknown> = {};
  const notes: string[] = [];
  for (const [key, value] of Object.entries(node)) {
    if (STRUCTURE.has(key) || (rules.mayRefer && REFERENCES.has(key))) written[key] = child(key, value, rules, level);
    else if (NARROWING.has(key)) notes.push(`${key}: ${JSON.stringify(value)}`);
    else if (!ASIDE.has(key)) throw new NotStrict();
  }
  assertClosed(node);
  const description = [node['description'], notes.join(', ')].filter((part) => typeof part === 'string' && part !== '');
  if (description.length > 0) written['description'] = description.join(' – ');
  return written;
}

function child(key: string, value: unknown, rules: StrictRules, level: number): unknown {
  switch (key) {
    case 'properties':
    case '$defs':
      if (!isNode(value)) throw new NotStrict();
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, strict(inner, rules, level + 1)]));
    case 'items':
      return strict(value, rules, level + 1);
    case 'anyOf':
      if (!Array.isArray(value)) throw new NotStrict();
      return value.map((inner) => strict(inner, rules, level));
    default:
      return value;
  }
}

/** An object must list its properties and exclude others. */
function assertClosed(node: Node): void {
  const { properties, additionalProperties } = node;
  if (!isOfObjects(node)) {
    if (!['type', 'enum', 'const', 'anyOf', '$ref'].some((key) => key in node)) throw new NotStrict();
    return;
  }
  if (additionalProperties !== false || !isNode(properties)) throw new NotStrict();
}

/** Counts the optional properties of a converted schema, nested ones included. */
function optionalsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Object.values(value).reduce((sum: number, inner) => sum + optionalsOf(inner), 0);
  const { properties, required, additionalProperties } = value as Node;
  if (additionalProperties !== false || !isNode(properties)) return inside;
  const needed = new Set(Array.isArray(required) ? (required as unknown[]) : []);
  return inside + Object.keys(properties).filter((name) => !needed.has(name)).length;
}

function isOfObjects({ type, properties }: Node): boolean {
  return [type].flat().includes('object') || properties !== undefined;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
