import type { JsonSchema } from '../common/index.js';

/** What a provider takes of the schemas that it holds its replies to. */
export interface StrictRules {
  /** How many properties may be left out, in all objects. */
  readonly maxOptional: number;
  /** Whether it takes `$ref` to what is inside the schema. */
  readonly mayRefer: boolean;
}

type Node = Readonly<Record<string, unknown>>;

/** Keywords that say what a value is made of; one that is not here and not below makes a schema one that is not taken. */
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
/** Keywords that narrow a value: providers take them or not, so the model is told, and the answer is checked here. */
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
/** OpenAI's limit ("Structured model outputs"); deeper ones are refused. */
const MAX_LEVELS = 5;

/**
 * Writes a schema so that a provider can hold its replies to it: objects that are closed, with no more optional properties
 * than the rules allow. What only narrows values stands in the descriptions. Undefined when the schema
 * says more than that.
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

/** An object names its properties, and takes no others. */
function assertClosed(node: Node): void {
  const { properties, additionalProperties } = node;
  if (!isOfObjects(node)) {
    if (!['type', 'enum', 'const', 'anyOf', '$ref'].some((key) => key in node)) throw new NotStrict();
    return;
  }
  if (additionalProperties !== false || !isNode(properties)) throw new NotStrict();
}

/** How many properties a written schema leaves optional, wherever they are. */
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
