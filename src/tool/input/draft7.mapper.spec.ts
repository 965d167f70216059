import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../kernel/json/index.js';
import { toCurrentDraft } from './draft7.mapper.js';
import { createSchemaInput } from './schema-input.factory.js';

const $schema = 'http://json-schema.org/draft-07/schema#';

describe('a schema of draft 7', () => {
  it.each<[JsonSchema, JsonSchema]>([
    [
      { items: [{ type: 'string' }], additionalItems: { $ref: '#/items/0' } },
      { prefixItems: [{ type: 'string' }], items: { $ref: '#/prefixItems/0' } },
    ],
    [{ items: { type: 'string' }, additionalItems: false }, { items: { type: 'string' } }],
    [
      { dependencies: { a: ['b'], c: { properties: { d: false } } } },
      { dependentRequired: { a: ['b'] }, dependentSchemas: { c: { properties: { d: false } } } },
    ],
    [
      { properties: { x: { $ref: '#/definitions/y', maxLength: 1 } }, definitions: { y: { $id: '#y' } } },
      { properties: { x: { $ref: '#/definitions/y' } }, definitions: { y: { $anchor: 'y' } } },
    ],
    [
      { properties: { $ref: { type: 'string' }, items: { enum: [{ items: [1] }] } } },
      { properties: { $ref: { type: 'string' }, items: { enum: [{ items: [1] }] } } },
    ],
  ])('%j is converted to the current draft', (old, current) => {
    expect(toCurrentDraft({ $schema, ...old })).toEqual(current);
    expect(toCurrentDraft(old)).toBe(old);
  });

  it('is sent to models and checked in the current draft', () => {
    const pair = { type: 'array', items: [{ type: 'string' }, { type: 'integer' }], additionalItems: false };
    const input = createSchemaInput({ $schema, type: 'object', properties: { pair } });
    expect(input.schema).toEqual({
      type: 'object',
      properties: { pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false } },
      additionalProperties: false,
    });
    expect(input.validate({ pair: ['a', 1] }).valid).toBe(true);
    expect(input.validate({ pair: ['a', 1, 2] }).valid).toBe(false);
  });
});
