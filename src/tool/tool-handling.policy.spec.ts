import { describe, expect, it } from 'vitest';
import { acceptsFreeText } from './tool-handling.policy.js';

const of = (one: unknown) => ({ type: 'object', properties: { one } });

describe('arguments with free text', () => {
  it.each([
    [{ type: 'string' }],
    [{ type: 'string', maxLength: 33 }],
    [{ type: 'string', format: 'uri' }],
    [{ type: 'string', pattern: '^x' }],
    [{ type: ['string', 'null'] }],
    [{ type: 'array', items: { type: 'string' } }],
    [{ type: 'array' }],
    [{ type: 'object' }],
    [{ type: 'object', additionalProperties: { type: 'integer' } }],
    [{ type: 'object', properties: { deep: { type: 'string' } } }],
    [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }],
    [{ $ref: '#/$defs/x' }],
    [{}],
    [true],
  ])('are possible with %j', (one) => expect(acceptsFreeText(of(one))).toBe(true));

  it.each([
    [{ type: 'integer' }],
    [{ type: 'string', enum: ['a', 'b'] }],
    [{ const: 'a' }],
    [{ type: 'string', maxLength: 32 }],
    [{ type: 'string', format: 'date' }],
    [{ type: 'array', items: { type: 'string', format: 'uuid' } }],
    [{ type: 'object', properties: { deep: { type: 'boolean' } }, additionalProperties: false }],
    [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }],
    [{ allOf: [{ type: 'string', maxLength: 8 }, {}] }],
  ])('are not possible with %j', (one) => expect(acceptsFreeText(of(one))).toBe(false));

  it('are not possible without arguments', () => {
    expect(acceptsFreeText({ type: 'object' })).toBe(false);
    expect(acceptsFreeText({ type: 'object', properties: {}, additionalProperties: false })).toBe(false);
  });
});
