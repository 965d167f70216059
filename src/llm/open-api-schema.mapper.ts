import { isJsonObject } from '../kernel/json/index.js';

type Node = Readonly<Record<string, unknown>>;

/** The keywords of a schema (ai.google.dev/api/caching#Schema); any other one is 400, "Unknown name". */
const KEYWORDS = new Set([
  'type',
  'format',
  'title',
  'description',
  'nullable',
  'enum',
  'items',
  'minItems',
  'maxItems',
  'properties',
  'required',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'anyOf',
]);
/** Keywords without a constraint on values; a description of them would help no model. */
const WITHOUT_CONSTRAINT = new Set([
  '$schema',
  '$id',
  '$comment',
  '$anchor',
  '$defs',
  'definitions',
  'additionalProperties',
  'unevaluatedProperties',
  'default',
  'deprecated',
  'readOnly',
  'writeOnly',
]);
/** "format: only 'enum' and 'date-time' are supported for STRING type" (github.com/google-gemini/gemini-cli/issues/3178). */
const FORMATS = new Set(['enum', 'date-time', 'float', 'double', 'int32', 'int64']);

/** A schema, without its inner ones, in the keywords of OpenAPI 3.0; the description states the other constraints. */
export function toOpenApi(node: Node): Node {
  const whole = withoutNull(toTextConst(withOneUnion(withAllOf(node))));
  const dropped = Object.entries(whole).filter(([key, value]) => !isSupported(key, value));
  if (dropped.length === 0) return whole;
  const kept = Object.fromEntries(Object.entries(whole).filter(([key, value]) => isSupported(key, value)));
  const constraints = dropped.filter(([key]) => !WITHOUT_CONSTRAINT.has(key));
  return constraints.length === 0 ? kept : withNote(kept, JSON.stringify(Object.fromEntries(constraints)));
}

function isSupported(key: string, value: unknown): boolean {
  if (key === 'format') return FORMATS.has(String(value));
  return KEYWORDS.has(key) && !(key === 'items' && Array.isArray(value));
}

function withNote(node: Node, note: string): Node {
  const { description } = node;
  return { ...node, description: typeof description === 'string' ? `${description} ${note}` : note };
}

/** The schemas of `allOf` as one: with all properties, and of other keywords the first. */
function withAllOf(node: Node): Node {
  const { allOf, ...rest } = node;
  if (!Array.isArray(allOf)) return node;
  const parts = [rest, ...allOf.filter(isJsonObject)].map((part) => withAllOf(part));
  const properties = Object.assign({}, ...parts.map((part) => part['properties'])) as Node;
  const required = parts.flatMap((part) => (Array.isArray(part['required']) ? (part['required'] as unknown[]) : []));
  return {
    ...(Object.assign({}, ...parts.toReversed()) as Node),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  };
}

function withOneUnion(node: Node): Node {
  const { oneOf, ...rest } = node;
  if (!Array.isArray(oneOf)) return node;
  return rest['anyOf'] === undefined ? { ...rest, anyOf: oneOf } : withNote(rest, JSON.stringify({ oneOf }));
}

function toTextConst(node: Node): Node {
  const { const: value, ...rest } = node;
  return typeof value === 'string' ? { ...rest, type: 'string', enum: [value] } : node;
}

/** `anyOf` with a null becomes nullable. */
function withoutNull(node: Node): Node {
  const { anyOf, ...rest } = node;
  if (!Array.isArray(anyOf)) return node;
  const others = anyOf.filter((one) => !isJsonObject(one) || one['type'] !== 'null');
  if (others.length === anyOf.length || others.length === 0) return node;
  const [only] = others;
  const isOne = others.length === 1 && isJsonObject(only);
  return isOne
    ? withoutNull({ ...toOpenApi(only), ...rest, nullable: true })
    : { ...rest, anyOf: others, nullable: true };
}
