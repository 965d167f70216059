import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../kernel/json/index.js';
import { toolSignature } from './tool-signature.mapper.js';

const signatureOf = (inputSchema: JsonSchema, more: object = {}): string =>
  toolSignature({ name: 'find', description: 'Finds.', inputSchema, ...more }).split('\n')[1]!;

describe('a tool signature', () => {
  it.each<[string, JsonSchema, string]>([
    ['no arguments', { type: 'object' }, '{}'],
    [
      'required and optional fields',
      { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } }, required: ['city'] },
      '{ city: string; days?: number }',
    ],
    ['an enum', { type: 'object', properties: { unit: { enum: ['c', 'f'] } } }, '{ unit?: "c" | "f" }'],
    ['a constant', { type: 'object', properties: { v: { const: 1 } } }, '{ v?: 1 }'],
    [
      'alternatives in a list',
      { type: 'object', properties: { ids: { type: 'array', items: { type: ['string', 'number'] } } } },
      '{ ids?: (string | number)[] }',
    ],
    [
      'descriptions, which cannot end their comment',
      { type: 'object', properties: { a: { type: 'string', description: 'One */ two\nlines' } } },
      '{ /** One * / two lines */ a?: string }',
    ],
    [
      'names that are no identifiers',
      { type: 'object', properties: { 'x-id': { type: 'null' } } },
      '{ "x-id"?: null }',
    ],
    ['a map', { type: 'object', additionalProperties: { type: 'number' } }, '{ [key: string]: number }'],
    [
      'references',
      { type: 'object', properties: { at: { $ref: '#/$defs/a~1b' } }, $defs: { 'a/b': { type: 'boolean' } } },
      '{ at?: boolean }',
    ],
    [
      'a value that must match several schemas',
      {
        allOf: [
          { type: 'object', properties: { a: true } },
          { type: 'object', properties: { b: false } },
        ],
      },
      '{ a?: unknown } & { b?: never }',
    ],
    ['another document', { $ref: 'https://example.com/x.json' }, 'unknown'],
  ])('describes %s', (_, schema, type) => {
    expect(signatureOf(schema)).toBe(`find(input: ${type}): Promise<unknown>;`);
  });

  it('ends for a recursive schema', () => {
    const schema = { $ref: '#/$defs/node', $defs: { node: { properties: { next: { $ref: '#/$defs/node' } } } } };
    expect(signatureOf(schema)).toContain('next?: { next?: ');
    expect(signatureOf(schema)).toContain('unknown');
  });

  it('has the type of the result, if the tool declares one', () => {
    const outputSchema = { type: 'array', items: { type: 'string' } };
    expect(signatureOf({ type: 'object' }, { outputSchema })).toBe('find(input: {}): Promise<string[]>;');
    expect(toolSignature({ name: 'a-b', description: 'Does.', inputSchema: {} })).toBe(
      '/** Does. */\n"a-b"(input: unknown): Promise<unknown>;',
    );
  });
});
