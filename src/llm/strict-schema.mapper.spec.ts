import { describe, expect, it } from 'vitest';
import { toStrictSchema } from './strict-schema.mapper.js';

const OPENAI = { maxOptional: 0, mayRefer: true };
const CLAUDE = { maxOptional: 1, mayRefer: false };

function closed(properties: Record<string, unknown>, required = Object.keys(properties)) {
  return { type: 'object', properties, required, additionalProperties: false };
}

describe('toStrictSchema', () => {
  it('keeps structural keywords, and moves constraints to the description', () => {
    const schema = closed({
      n: { type: 'integer', minimum: 0, description: 'How many' },
      list: { type: 'array', items: { enum: ['a', 'b'] }, minItems: 1 },
      maybe: { anyOf: [{ type: 'string', pattern: '^x' }, { type: 'null' }] },
    });
    expect(toStrictSchema({ $schema: 'x', title: 'y', ...schema }, OPENAI)).toEqual(
      closed({
        n: { type: 'integer', description: 'How many – minimum: 0' },
        list: { type: 'array', items: { enum: ['a', 'b'] }, description: 'minItems: 1' },
        maybe: { anyOf: [{ type: 'string', description: 'pattern: "^x"' }, { type: 'null' }] },
      }),
    );
  });

  it('is undefined for an unsupported schema', () => {
    const text = { type: 'string' };
    for (const schema of [
      { type: 'array', items: text },
      { type: 'object', properties: { a: text }, required: ['a'] },
      { ...closed({ a: text }), additionalProperties: true },
      closed({ a: { type: 'object' } }),
      closed({ a: { oneOf: [text] } }),
      closed({ a: {} }),
      closed({ a: true }),
      { ...closed({ a: text }), not: {} },
    ]) {
      expect(toStrictSchema(schema, OPENAI)).toBeUndefined();
      expect(toStrictSchema(schema, CLAUDE)).toBeUndefined();
    }
  });

  it('allows optional properties and references by provider', () => {
    const optional = closed({ a: { type: 'string' } }, []);
    const referring = { ...closed({ a: { $ref: '#/$defs/a' } }), $defs: { a: { type: 'string' } } };
    expect([OPENAI, CLAUDE].map((rules) => toStrictSchema(optional, rules))).toEqual([undefined, optional]);
    expect(toStrictSchema(closed({ a: optional, b: optional }), CLAUDE)).toBeUndefined();
    expect([OPENAI, CLAUDE].map((rules) => toStrictSchema(referring, rules))).toEqual([referring, undefined]);
  });

  it('supports five levels', () => {
    const deep = (levels: number): Record<string, unknown> =>
      levels === 0 ? { type: 'string' } : closed({ a: deep(levels - 1) });
    expect(toStrictSchema(deep(5), OPENAI)).toEqual(deep(5));
    expect(toStrictSchema(deep(6), OPENAI)).toBeUndefined();
  });
});
