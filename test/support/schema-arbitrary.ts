import * as fc from 'fast-check';

/** A schema of the OpenAPI document. */
export type Schema = Readonly<Record<string, unknown>>;

interface Named {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Depth from which optional members and items are omitted. */
const MAX_DEPTH = 4;
const ANY_JSON = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown>;

/** Random values that a document's schemas allow, and single changes that they do not. */
export class SchemaValues {
  constructor(private readonly document: Named) {}

  valid(given: Schema, depth = 0): fc.Arbitrary<unknown> {
    const schema = this.resolved(given);
    if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
    const { anyOf, oneOf } = schema;
    const choices = (anyOf ?? oneOf) as readonly Schema[] | undefined;
    if (choices) return fc.oneof(...choices.map((one) => this.valid(one, depth)));
    const { type } = schema;
    const types = (Array.isArray(type) ? type : [type]) as readonly (string | undefined)[];
    return fc.oneof(...types.map((one) => this.ofType(one, schema, depth)));
  }

  /** Values of the schema with one mistake, and the place of the mistake; empty if every value is valid. */
  invalid(given: Schema, valid: unknown): { readonly place: string; readonly value: unknown }[] {
    const schema = this.resolved(given);
    if (schema['type'] !== 'object' || !isObject(valid)) return [];
    const {
      properties = {},
      required = [],
      additionalProperties,
    } = schema as {
      readonly properties?: Readonly<Record<string, Schema>>;
      readonly required?: readonly string[];
      readonly additionalProperties?: unknown;
    };
    return [
      ...(additionalProperties === false ? [{ place: 'an unknown field', value: { ...valid, surplus: 1 } }] : []),
      ...required.map((name) => ({ place: `no ${name}`, value: without(valid, name) })),
      ...Object.entries(properties).flatMap(([name, property]) =>
        this.mistakes(property).map((value) => ({
          place: `${name} = ${JSON.stringify(value)?.slice(0, 60)}`,
          value: { ...valid, [name]: value },
        })),
      ),
    ];
  }

  /** Values that a schema refuses. */
  mistakes(given: Schema): unknown[] {
    const schema = this.resolved(given);
    const { type, minimum, maximum, maxLength, maxItems } = schema as Readonly<Record<string, number | undefined>> &
      Schema;
    const isFree = type === undefined && !schema['enum'] && !schema['anyOf'] && !schema['oneOf'];
    if (isFree) return [];
    const candidates: unknown[] = [
      ...[17.5, true, 'zzz-not-a-value', [], ['x'], { surplus: 1 }, null].filter((value) => !this.mayBe(schema, value)),
      ...(minimum === undefined ? [] : [minimum - 1]),
      ...(maximum === undefined ? [] : [maximum + 1]),
      ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
      ...(maxItems === undefined ? [] : [Array.from({ length: maxItems + 1 }, (_, at) => at + 1)]),
    ];
    return schema['pattern'] === String.raw`\S` ? [...candidates, ' '] : candidates;
  }

  private mayBe(given: Schema, value: unknown): boolean {
    const schema = this.resolved(given);
    const choices = (schema['anyOf'] ?? schema['oneOf']) as readonly Schema[] | undefined;
    if (choices) return choices.some((one) => this.mayBe(one, value));
    if (Array.isArray(schema['enum'])) return (schema['enum'] as unknown[]).includes(value);
    const types = [schema['type']].flat();
    if (types.includes(undefined)) return true;
    const isOf = types.includes(typeOf(value)) || (types.includes('number') && typeof value === 'number');
    const { pattern } = schema;
    const isMatch = typeof pattern !== 'string' || typeof value !== 'string' || new RegExp(pattern, 'u').test(value);
    return isOf && isMatch;
  }

  private ofType(type: string | undefined, schema: Schema, depth: number): fc.Arbitrary<unknown> {
    const {
      minimum,
      maximum,
      minItems = 0,
      maxItems = 3,
      items,
      format,
      uniqueItems,
    } = schema as {
      readonly [name: string]: unknown;
      readonly minimum?: number;
      readonly maximum?: number;
      readonly minItems?: number;
      readonly maxItems?: number;
    };
    switch (type) {
      case 'string':
        return this.text(schema, format);
      case 'integer':
        return fc.integer({ min: minimum ?? -1000, max: maximum ?? 1_000_000 });
      case 'number':
        return fc.double({ min: minimum ?? -1000, max: maximum ?? 1000, noNaN: true });
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      case 'array': {
        const value = this.valid((items ?? {}) as Schema, depth + 1);
        const size = { minLength: minItems, maxLength: Math.min(maxItems, 3) };
        return uniqueItems ? fc.uniqueArray(value, size) : fc.array(value, size);
      }
      case 'object':
        return this.object(schema, depth);
      case undefined:
      default:
        return ANY_JSON;
    }
  }

  private text({ pattern, minLength, maxLength }: Schema, format: unknown): fc.Arbitrary<string> {
    if (format === 'date') return fc.constantFrom('2026-01-31', '2028-02-29');
    if (format === 'uri') return fc.constantFrom('https://mcp.example.com/mcp', 'http://example.org:8080/x?y=1');
    if (typeof pattern === 'string' && pattern !== String.raw`\S`) return matching(pattern);
    const size = { minLength: Number(minLength ?? 0), maxLength: Math.min(Number(maxLength ?? 20), 20) };
    const any = fc.oneof(fc.string(size), fc.string({ ...size, unit: 'grapheme' }));
    return pattern === String.raw`\S` ? any.map((text) => `x${text}`.slice(0, size.maxLength).toWellFormed()) : any;
  }

  private object(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    const {
      properties = {},
      required = [],
      additionalProperties,
    } = schema as {
      readonly properties?: Readonly<Record<string, Schema>>;
      readonly required?: readonly string[];
      readonly additionalProperties?: Schema | boolean;
    };
    const names = Object.keys(properties).filter((name) => depth < MAX_DEPTH || required.includes(name));
    if (names.length === 0 && additionalProperties) {
      const value = isObject(additionalProperties) ? this.valid(additionalProperties, depth + 1) : ANY_JSON;
      return fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), value, { maxKeys: 3 });
    }
    const members = Object.fromEntries(names.map((name) => [name, this.valid(properties[name]!, depth + 1)]));
    return fc.record(members, { requiredKeys: names.filter((name) => required.includes(name)) });
  }

  private resolved(schema: Schema): Schema {
    const { $ref, allOf, ...rest } = schema;
    if (typeof $ref === 'string')
      return { ...this.resolved(this.document.components.schemas[$ref.split('/').at(-1)!]!), ...rest };
    // The generator of the document wraps references with a description.
    if (Array.isArray(allOf)) return { ...this.resolved((allOf as Schema[])[0]!), ...rest };
    return schema;
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function without(value: Readonly<Record<string, unknown>>, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
}

/** fast-check has no strings for Unicode properties. */
function matching(pattern: string): fc.Arbitrary<string> {
  const expression = new RegExp(pattern, 'u');
  // The pattern of ids names only what no id contains.
  if (!expression.test('a b') && expression.test('客户:7'))
    return fc.constantFrom('order-4711', '客户:7', 'a.b@c', 'x');
  // A pattern of times also matches days that do not exist.
  if (pattern.includes(String.raw`T\d\d:`)) return fc.constantFrom('2026-01-31T08:00:00Z', '1769817600000');
  if (!pattern.includes(String.raw`\p{`)) return fc.stringMatching(expression);
  return fc.string({ minLength: 1, maxLength: 20 }).filter((text) => expression.test(text));
}
