import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../kernel/json/index.js';
import { fitTool } from './tool-schema.mapper.js';

const fit = (inputSchema: JsonSchema, rules: Parameters<typeof fitTool>[1] = {}) =>
  fitTool({ name: 'x', description: 'Does x.', inputSchema }, rules);
const PLAIN = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'], additionalProperties: false };
const within = (schema: unknown): JsonSchema => ({ type: 'object', properties: { n: schema } });
const inner = ({ schema }: ReturnType<typeof fitTool>) => (schema['properties'] as Record<string, unknown>)['n'];

describe('fitTool', () => {
  it('does not change a plain tool under any rules', () => {
    for (const rules of [{}, { isTyped: true }, { propertyName: /^n$/ }]) {
      expect(fit(PLAIN, rules)).toEqual({ description: 'Does x.', schema: PLAIN });
      expect(fit(PLAIN, rules).schema).toBe(PLAIN);
    }
    const { additionalProperties: _closed, ...open } = PLAIN;
    expect(fit(open, { isOpenApi: true }).schema).toBe(open);
  });

  it('completes an object without properties, and an array without items', () => {
    expect(fit({ type: 'object' }).schema).toEqual({ type: 'object', properties: {} });
    expect(fit({}).schema).toEqual({ type: 'object', properties: {} });
    expect(inner(fit(within({ type: 'array' })))).toEqual({ type: 'array', items: {} });
    expect(inner(fit(within({ type: ['array', 'null'] })))).toEqual({ type: ['array', 'null'], items: {} });
  });

  it('moves a union at the top to the description, and its properties to the object', () => {
    const union = [{ required: ['n'] }, { properties: { m: { type: 'string' } }, required: ['m'] }];
    expect(fit({ type: 'object', properties: { n: { type: 'number' } }, anyOf: union })).toEqual({
      description: `Does x.\nThe input must also match ${JSON.stringify({ anyOf: union })}.`,
      schema: { type: 'object', properties: { m: { type: 'string' }, n: { type: 'number' } } },
    });
  });

  it('resolves a reference at the top', () => {
    const $defs = { In: PLAIN };
    expect(fit({ $ref: '#/$defs/In', $defs }).schema).toEqual({ ...PLAIN, $defs });
  });

  it('resolves the references of a union at the top', () => {
    const $defs = {
      A: { type: 'object', properties: { a: { type: 'string' } } },
      B: { $ref: '#/$defs/C' },
      C: { allOf: [{ $ref: '#/$defs/D' }, { properties: { c: { type: 'string' } } }] },
      D: { properties: { d: { type: 'string' } }, anyOf: [{ $ref: '#/$defs/B' }] },
    };
    const anyOf = [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/B' }];
    const properties = { a: { type: 'string' }, c: { type: 'string' }, d: { type: 'string' } };
    expect(fit({ anyOf, $defs }).schema).toEqual({ type: 'object', properties, $defs });
    expect(fit({ $ref: '#/$defs/B', $defs }).schema).toEqual({
      type: 'object',
      properties: { c: { type: 'string' }, d: { type: 'string' } },
      $defs,
    });
  });

  it('takes no properties from a schema that the input must not match', () => {
    const not = { properties: { m: { type: 'string' } }, required: ['m'] };
    expect(fit({ ...PLAIN, not })).toEqual({
      description: `Does x.\nThe input must also match ${JSON.stringify({ not })}.`,
      schema: PLAIN,
    });
  });

  it('moves properties with invalid names to the description', () => {
    const schema = { ...within({ type: 'number' }), required: ['n', 'a[b]'], additionalProperties: false };
    const properties = { n: { type: 'number' }, 'a[b]': { type: 'string' } };
    expect(fit({ ...schema, properties }, { propertyName: /^[a-z.]+$/ })).toEqual({
      description: 'Does x.\nFurther property "a[b]": {"type":"string"}',
      schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    });
  });

  it('shortens a description', () => {
    expect(fit(PLAIN, { maxDescription: 4 }).description).toBe('Doe…');
  });

  it('writes one type and enums of texts for OpenAPI', () => {
    const rules = { isOpenApi: true };
    expect(inner(fit(within({ type: ['string', 'null'] }), rules))).toEqual({ type: 'string', nullable: true });
    expect(inner(fit(within({ type: ['null'] }), rules))).toEqual({ type: 'null' });
    expect(inner(fit(within({ type: ['string', 'number'] }), rules))).toEqual({
      anyOf: [{ type: 'string' }, { type: 'number' }],
    });
    expect(inner(fit(within({ type: 'integer', enum: [1, 2], description: 'Level.' }), rules))).toEqual({
      type: 'integer',
      description: 'Level. One of 1, 2.',
    });
    expect(inner(fit(within({ enum: ['a'] }), rules))).toEqual({ enum: ['a'], type: 'string' });
  });

  it('describes the keywords that OpenAPI lacks', () => {
    const one = (schema: JsonSchema) => inner(fit(within(schema), { isOpenApi: true }));
    expect(one({ type: 'string', format: 'uri', $comment: 'x', default: 'a' })).toEqual({
      type: 'string',
      description: '{"format":"uri"}',
    });
    expect(one({ type: 'string', format: 'date-time' })).toEqual({ type: 'string', format: 'date-time' });
    expect(one({ const: 'a' })).toEqual({ type: 'string', enum: ['a'] });
    expect(one({ type: 'integer', exclusiveMinimum: 0, const: 1, description: 'N.' })).toEqual({
      type: 'integer',
      description: 'N. {"exclusiveMinimum":0,"const":1}',
    });
    expect(one({ oneOf: [{ type: 'string' }, { type: 'null' }], title: 'T' })).toEqual({
      type: 'string',
      nullable: true,
      title: 'T',
    });
    expect(one({ type: 'object', additionalProperties: false, propertyNames: { pattern: '^a' } })).toEqual({
      type: 'object',
      description: '{"propertyNames":{"pattern":"^a"}}',
    });
    expect(
      one({
        allOf: [
          { properties: { a: { type: 'string' } }, required: ['a'] },
          { type: 'object', properties: { b: { type: 'number' } }, required: ['b'] },
        ],
      }),
    ).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'number' } },
      required: ['a', 'b'],
    });
  });

  it('replaces references by their definitions, and ends a recursion', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' }, id: { $ref: '#/$defs/id' } } };
    const schema = { ...within({ $ref: '#/$defs/node' }), $defs: { node, id: { type: 'string' } } };
    const around = { type: 'object', description: 'Has the form of #/$defs/node around it.' };
    expect(fit(schema, { isOpenApi: true }).schema).toEqual(
      within({ type: 'object', properties: { next: around, id: { type: 'string' } } }),
    );
    const web = Object.fromEntries(
      Array.from({ length: 16 }, (_, n) => [
        `d${n}`,
        { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
      ]),
    );
    expect(() => fit({ ...within({ $ref: '#/$defs/d0' }), $defs: web }, { isOpenApi: true })).toThrow(/too large/);
  });

  it('types every schema where that is required', () => {
    const rules = { isTyped: true };
    const any = { anyOf: ['string', 'number', 'boolean', 'object'].map((type) => ({ type })) };
    expect(inner(fit(within({ description: 'Any.' }), rules))).toEqual({ description: 'Any.', ...any });
    expect(inner(fit(within({ type: 'array' }), rules))).toEqual({ type: 'array', items: any });
    expect(inner(fit(within({ type: 'string', anyOf: [{ minLength: 2 }] }), rules))).toEqual({
      anyOf: [{ type: 'string', minLength: 2 }],
    });
    expect(fit({ ...within({ type: 'number' }), required: ['m'] }, rules).schema).toMatchObject({
      properties: { n: { type: 'number' }, m: any },
      required: ['m'],
    });
  });
});
