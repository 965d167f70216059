import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../kernel/json/index.js';
import { closeSchema } from './closed-schema.mapper.js';
import { createSchemaInput } from './schema-input.factory.js';

const A = { properties: { a: { type: 'string' } }, required: ['a'] };
const B = { properties: { b: { type: 'number' } }, required: ['b'] };
const takes = (schema: JsonSchema, args: unknown): boolean => createSchemaInput(schema).validate(args).valid;

describe('closeSchema', () => {
  it('leaves an explicitly open schema and one without properties unchanged', () => {
    const open = { type: 'object', ...A, additionalProperties: { type: 'string' } };
    expect(closeSchema(open)).toEqual(open);
    expect(closeSchema({ type: 'object' })).toEqual({ type: 'object' });
  });

  it('does not read data as schemas', () => {
    const data = { type: 'object', default: A, enum: [A], additionalProperties: false };
    expect(closeSchema(data)).toEqual(data);
  });

  it('closes the branches of a choice one by one', () => {
    const choice = { type: 'object', anyOf: [A, B] };
    expect(takes(choice, { a: 'x' })).toBe(true);
    expect(takes(choice, { b: 1 })).toBe(true);
    expect(takes(choice, { a: 'x', c: 1 })).toBe(false);
  });

  it.each([
    ['allOf', { type: 'object', allOf: [A, B] }],
    ['properties beside allOf', { type: 'object', ...A, allOf: [B] }],
    ['properties beside anyOf', { type: 'object', ...A, anyOf: [B, { required: ['zzz'] }] }],
    ['allOf of references', { type: 'object', allOf: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/B' }], $defs: { A, B } }],
    [
      'then',
      JSON.parse(
        `{"type":"object","properties":{"a":{}},"if":{"required":["a"]},"then":${JSON.stringify(B)}}`,
      ) as JsonSchema,
    ],
  ] as [string, JsonSchema][])('closes an object made of parts as a whole: %s', (_case, schema) => {
    expect(takes(schema, { a: 'x', b: 1 })).toBe(true);
    expect(takes(schema, { a: 'x', b: 1, c: 1 })).toBe(false);
  });

  it('closes definitions, also recursive ones', () => {
    const tree = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } };
    expect(takes(tree, { children: [{ children: [] }] })).toBe(true);
    expect(takes(tree, { children: [{ children: [], x: 1 }] })).toBe(false);
    const named = { type: 'object', properties: { it: { $ref: '#/$defs/A' } }, $defs: { A } };
    expect(takes(named, { it: { a: 'x' } })).toBe(true);
    expect(takes(named, { it: { a: 'x', c: 1 } })).toBe(false);
  });
});
