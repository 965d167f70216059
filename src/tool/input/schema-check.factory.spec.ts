import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../kernel/json/index.js';
import { toAjvSchema } from './schema-check.factory.js';
import { createValueCheck } from './schema-input.factory.js';

/** An object literal with `then` would be treated as a promise. */
function parsed(text: string): JsonSchema {
  return JSON.parse(text) as JsonSchema;
}

const CONDITION = { properties: { kind: { const: 'a' } }, required: ['kind'] };

describe('toAjvSchema()', () => {
  it.each<[string, JsonSchema, unknown[], unknown[]]>([
    ['an empty enum takes nothing', { enum: [] }, [], ['a', null]],
    [
      'an inner resource may refer beside its $id',
      {
        $id: 'https://x.test/a',
        $ref: 'b',
        $defs: { b: { $id: 'b', $ref: '#/$defs/c', $defs: { c: { type: 'string' } } } },
      },
      ['a'],
      [1],
    ],
    [
      'a failed condition evaluates no properties',
      { if: CONDITION, ...parsed('{"then": {"properties": {"x": true}}}'), unevaluatedProperties: false },
      [{ kind: 'a', x: 1 }, {}],
      [{ kind: 'b' }, { x: 1 }],
    ],
    [
      'contains evaluates only matching items',
      { contains: { type: 'string' }, allOf: [{ contains: { const: 1 } }], unevaluatedItems: false },
      [
        ['a', 1],
        [1, 'a', 'b'],
      ],
      [['a'], ['a', 1, 2]],
    ],
    [
      'the bounds of contains stay',
      { contains: { type: 'string' }, minContains: 0, maxContains: 1, unevaluatedItems: { type: 'null' } },
      [[], ['a'], [null, 'a']],
      [['a', 'b'], [1]],
    ],
  ])('ensures that %s', (_case, schema, good, bad) => {
    const check = createValueCheck(schema);
    expect(good.map((value) => check(value).valid)).toEqual(good.map(() => true));
    expect(bad.map((value) => check(value).valid)).toEqual(bad.map(() => false));
  });

  it('leaves other schemas unchanged', () => {
    const text = '{"properties": {"if": {"if": true, "then": {"enum": ["x"]}}, "contains": {"contains": {}}}}';
    const schema = parsed(text);
    expect(toAjvSchema(schema)).toEqual(schema);
  });
});
