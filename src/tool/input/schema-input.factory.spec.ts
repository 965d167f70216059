import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { type JsonSchema, parseExactJson } from '../../kernel/json/index.js';
import { createSchemaInput, createValueCheck } from './schema-input.factory.js';

const reasonOf = (schema: JsonSchema, args: unknown): string => {
  const input = createSchemaInput(schema).validate(args);
  return input.valid ? 'valid' : input.reason;
};

const EXPRESSION = { type: 'object', properties: { expression: { type: 'string' } }, required: ['expression'] };
const OF = (property: JsonSchema): JsonSchema => ({ type: 'object', properties: { n: property } });

describe('createSchemaInput', () => {
  it('reports which argument is wrong and why', () => {
    expect(reasonOf(EXPRESSION, { expression: '1' })).toBe('valid');
    expect(reasonOf(EXPRESSION, {})).toBe('"expression" is required');
    expect(reasonOf(EXPRESSION, { expression: '1', x: 2 })).toBe('unknown argument "x" (known: expression)');
    expect(reasonOf(EXPRESSION, { expr: '1' })).toBe(
      '"expression" is required; unknown argument "expr" (known: expression)',
    );
    expect(reasonOf({ type: 'object', properties: {} }, { x: 1 })).toBe(
      'unknown argument "x" (the tool has no arguments)',
    );
  });

  it.each<[JsonSchema, unknown, string]>([
    [{ type: 'integer' }, 'seven', '"n" must be integer, got string'],
    [{ type: 'integer' }, '7.0', '"n" must be integer, got string'],
    [{ type: 'integer' }, '07', '"n" must be integer, got string'],
    [{ type: 'integer' }, ' 7', '"n" must be integer, got string'],
    [{ type: 'integer' }, '', '"n" must be integer, got string'],
    [{ type: 'number' }, '7', '"n" must be number, got string'],
    [{ type: 'integer', maximum: 5 }, '7', '"n" must be <= 5, got 7'],
    [{ type: 'integer', maximum: 5 }, '9123456789012345677', '"n" must be <= 5, got 9123456789012346000'],
    [{ type: 'integer' }, 1.5, '"n" must be integer, got 1.5'],
    [{ type: ['string', 'null'] }, [], '"n" must be string or null, got array'],
    [{ enum: ['a', 'b'] }, 'c', '"n" must be one of "a", "b", got "c"'],
    [{ const: 1 }, 2, '"n" must be 1, got 2'],
    [{ type: 'number', minimum: 3 }, 2, '"n" must be >= 3, got 2'],
    [{ type: 'string', minLength: 2 }, 'x', '"n" must not have fewer than 2 characters, got string'],
    [{ type: 'string', format: 'email' }, 'x', '"n" must match format "email", got string'],
    [{ type: 'array', items: OF({ type: 'string' }) }, [{ n: 1 }], '"n[0].n" must be string, got number'],
    [
      { anyOf: [{ type: 'string' }, { type: 'integer' }] },
      true,
      '"n" fits none of its forms ("n" must be string, got boolean, or "n" must be integer, got boolean)',
    ],
    [{ oneOf: [{ minimum: 1 }, { minimum: 0 }] }, 2, '"n" fits more than one of its forms'],
    [false, 2, '"n" is not allowed, got 2'],
  ] as [JsonSchema, unknown, string][])('reports the problem of %j with %j', (property, value, reason) => {
    expect(reasonOf(OF(property), { n: value })).toBe(reason);
  });

  it('takes null for an optional argument as absent where its schema does not allow null', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: {
        text: { type: 'string' },
        limit: { anyOf: [{ type: 'integer' }, { enum: ['all'] }], default: 7 },
        'a/b~': { type: 'string', format: 'email' },
        note: { type: ['string', 'null'] },
        deep: { type: 'object', properties: { n: { type: 'integer' }, m: { type: 'integer' } }, required: ['m'] },
        list: { type: 'array', items: { type: 'integer' } },
        map: { type: 'object', additionalProperties: { type: 'string' } },
      },
      required: ['text'],
    };
    const validate = (args: unknown) => createSchemaInput(schema).validate(args);
    const args = { text: 'x', limit: null, 'a/b~': null, note: null, deep: { n: null, m: 1 }, list: [1] };
    const value = { text: 'x', limit: 7, note: null, deep: { m: 1 }, list: [1] };
    expect(validate(args)).toEqual({ valid: true, value });
    expect(validate(parseExactJson('{"text":"x","list":null}'))).toEqual({
      valid: true,
      value: { text: 'x', limit: 7 },
    });
    expect(args.limit).toBeNull();
    expect(reasonOf(schema, { text: null, limit: null })).toBe('"text" must be string, got null');
    expect(reasonOf(schema, { text: 'x', deep: { n: null, m: null } })).toBe('"deep.m" must be integer, got null');
    expect(reasonOf(schema, { text: 'x', list: [null] })).toBe('"list[0]" must be integer, got null');
    expect(reasonOf(schema, { text: 'x', map: { a: null } })).toBe('"map.a" must be string, got null');
    expect(reasonOf(schema, { text: 'x', limt: null })).toMatch('unknown argument "limt"');
  });

  it.each<[string, JsonSchema]>([
    ['a definition', { $ref: '#/$defs/Label' }],
    ['alternatives', { anyOf: [{ $ref: '#/$defs/Label' }, { type: 'integer' }] }],
    ['another part of the schema', { $ref: '#/properties/text' }],
  ])('retains null of a map whose values refer to %s', (_, additionalProperties) => {
    const properties = { text: { type: 'string' }, labels: { type: 'object', additionalProperties } };
    const schema = { type: 'object', properties, $defs: { Label: { type: 'string' } } };
    expect(reasonOf(schema, { labels: { a: null, b: 'x' } })).toContain('"labels.a"');
    const patterns = { type: 'object', properties: { labels: { patternProperties: { '^a': additionalProperties } } } };
    expect(
      reasonOf({ ...schema, properties: { ...properties, ...patterns.properties } }, { labels: { a: null } }),
    ).toContain('"labels.a"');
  });

  it('takes null for an optional argument as absent where its schema is a reference', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: {
        label: { $ref: '#/$defs/Label' },
        filter: { anyOf: [{ $ref: '#/$defs/Filter' }, { type: 'null' }] },
        lists: { type: 'object', additionalProperties: { type: 'array', items: { $ref: '#/$defs/Filter' } } },
      },
      $defs: {
        Label: { enum: ['a', 'b'] },
        Filter: {
          type: 'object',
          properties: { label: { $ref: '#/$defs/Label' }, inner: { $ref: '#/$defs/Filter' } },
        },
      },
    };
    const args = {
      label: null,
      filter: { label: null, inner: { label: null, inner: null } },
      lists: { x: [{ label: null }] },
    };
    expect(createSchemaInput(schema).validate(args)).toEqual({
      valid: true,
      value: { filter: { inner: {} }, lists: { x: [{}] } },
    });
  });

  it('reports at most ten problems', () => {
    const args = Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`x${index}`, 1]));
    expect(reasonOf(OF({}), args)).toMatch(/unknown argument "x9" \(known: n\); and 5 more$/);
  });

  it('gives the model the closed schema without $schema, and does not modify the source', () => {
    const source = { $schema: 'http://json-schema.org/draft-07/schema#', ...EXPRESSION };
    expect(createSchemaInput(source).schema).toEqual({ ...EXPRESSION, additionalProperties: false });
    expect(source).toHaveProperty('$schema');
    expect(source).not.toHaveProperty('additionalProperties');
  });

  it('applies defaults to a copy', () => {
    const args = {};
    const input = createSchemaInput(OF({ type: 'integer', default: 3 })).validate(args);
    expect(input).toEqual({ valid: true, value: { n: 3 } });
    expect(args).toEqual({});
  });

  it('ignores inherited properties', () => {
    const schema = { type: 'object', properties: { toString: { type: 'string' } }, required: ['toString'] };
    expect(reasonOf(schema, {})).toBe('"toString" is required');
  });

  it.each<[string, JsonSchema, string]>([
    ['is not an object', { type: 'string' }, 'does not describe an object'],
    ['is malformed', OF({ type: 'text' }), 'not a JSON Schema that can be used'],
    ['is remote', OF({ $ref: 'https://example.com/a.json' }), 'example.com'],
    ['has a bad pattern', OF({ type: 'string', pattern: '(' }), 'not a JSON Schema that can be used'],
  ])('refuses a schema that %s', (_case, schema, reason) => {
    expect(() => createSchemaInput(schema)).toThrow(reason);
  });

  it('distinguishes schemas with the same $id', () => {
    const first = { $id: 'https://example.com/x', ...OF({ type: 'string' }) };
    const second = { $id: 'https://example.com/x', ...OF({ type: 'number' }) };
    expect(reasonOf(first, { n: 'a' })).toBe('valid');
    expect(reasonOf(second, { n: 1 })).toBe('valid');
  });

  it('returns conforming arguments unchanged, and always rejects an additional unknown key', () => {
    const schema = {
      type: 'object',
      properties: {
        text: { type: 'string' },
        count: { type: 'integer' },
        tags: { type: 'array', items: { type: 'string' } },
        place: { type: 'object', properties: { lat: { type: 'number' } }, required: ['lat'] },
      },
      required: ['text'],
    };
    const input = createSchemaInput(schema);
    const place = fc.record({ lat: fc.double({ noNaN: true, noDefaultInfinity: true }) });
    const args = fc.record(
      { text: fc.string(), count: fc.integer(), tags: fc.array(fc.string()), place },
      { requiredKeys: ['text'], noNullPrototype: true },
    );
    const unknown = fc.string().filter((key) => !Object.hasOwn(schema.properties, key) && key !== '__proto__');
    fc.assert(
      fc.property(args, unknown, fc.jsonValue(), (given, key, value) => {
        const before = structuredClone(given);
        expect(input.validate(given)).toEqual({ valid: true, value: before });
        const refused = input.validate({ ...given, [key]: value });
        expect(refused).toMatchObject({ valid: false, reason: expect.stringContaining('unknown argument') });
        const nested = { ...given, place: { lat: 0, [`${key}x`]: value } };
        expect(input.validate(nested)).toMatchObject({ valid: false });
      }),
    );
  });
});

describe('integers that a number cannot represent', () => {
  const ID = '9123456789012345677';
  const read = (schema: JsonSchema, args: string, large?: 'exact' | 'text' | 'refuse') =>
    createSchemaInput(schema, large).validate(parseExactJson(args));

  it.each<[JsonSchema, string, string, string]>([
    [OF({ type: 'integer' }), ID, '"n"', 'arguments.n'],
    [OF({}), `[1,${ID}]`, '"n[1]"', 'arguments.n.1'],
    [OF({ type: 'object', additionalProperties: true }), `{"id":${ID}}`, '"n.id"', 'arguments.n.id'],
    [OF({ type: 'string' }), ID, '"n"', 'arguments.n'],
    [OF({ type: 'number' }), ID, '"n"', 'arguments.n'],
  ])('are an argument error for a tool that takes values: %j, %s', (schema, value, name, field) => {
    const input = read(schema, `{"n":${value}}`);
    expect(input).toEqual({
      valid: false,
      reason: `${name} is the integer ${ID}, which cannot be represented exactly: send its digits as a string`,
      mistakes: [{ field, message: expect.stringContaining(ID), rule: 'exactInteger', got: 'number' }],
    });
  });

  it('include numbers beyond the largest double', () => {
    expect(read(OF({ type: 'integer' }), '{"n":1e400}')).toMatchObject({
      valid: false,
      reason: expect.stringContaining('1e400'),
    });
  });

  it.each<[JsonSchema]>([
    [{ type: 'integer' }],
    [{ type: ['integer', 'null'] }],
    [{ anyOf: [{ type: 'integer', minimum: 10 }, { type: 'null' }] }],
    [{ oneOf: [{ type: 'integer' }, { type: 'boolean' }] }],
    [{ type: 'array', items: { type: 'integer' } }],
    [{ type: 'object', properties: { 'a/b~c': { type: 'integer' } } }],
  ])('are accepted as a string of digits: %j', (schema) => {
    const wrap = (value: unknown) => (schema['items'] ? [value] : schema['properties'] ? { 'a/b~c': value } : value);
    expect(createSchemaInput(OF(schema)).validate({ n: wrap(ID) })).toEqual({ valid: true, value: { n: wrap(ID) } });
    expect(createSchemaInput(OF(schema)).validate({ n: wrap('42') })).toEqual({ valid: true, value: { n: wrap(42) } });
  });

  it('remain strings where the schema accepts strings', () => {
    const given = { n: '42', m: ID };
    const schema = { type: 'object', properties: { n: { type: ['string', 'integer'] }, m: {} } };
    expect(createSchemaInput(schema).validate(given)).toEqual({ valid: true, value: given });
  });

  it('are rejected as digits, too, where a later validator could round them', () => {
    const input = createSchemaInput(OF({ type: 'integer' }), 'refuse');
    expect(input.validate({ n: ID })).toMatchObject({ valid: false, reason: expect.stringContaining(ID) });
    expect(input.validate({ n: '42' })).toEqual({ valid: true, value: { n: 42 } });
  });

  it('reach a tool that re-serializes JSON with all digits, beside defaults', () => {
    const schema = {
      type: 'object',
      properties: { n: { type: 'array', items: { type: 'integer' } }, m: { default: 1 } },
    };
    const input = read(schema, `{"n":[${ID},1e400]}`, 'exact');
    expect(JSON.stringify(input)).toBe(`{"valid":true,"value":{"n":[${ID},1e400],"m":1}}`);
    expect(read(schema, `{"n":[1.5,${ID}]}`, 'exact')).toMatchObject({
      valid: false,
      reason: '"n[0]" must be integer, got 1.5',
    });
  });

  it('pass a value check with all digits', () => {
    const value = parseExactJson(`{"n":${ID}}`);
    expect(createValueCheck(OF({ type: 'integer' }))(value)).toEqual({ valid: true, value });
    expect(createValueCheck(OF({ type: 'object' }))(value)).toMatchObject({ valid: false });
  });
});
