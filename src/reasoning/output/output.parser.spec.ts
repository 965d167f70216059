import { describe, expect, it } from 'vitest';
import { parseOutput } from './output.parser.js';

const list = { schema: { type: 'array', items: { type: 'integer' } } };

describe('parseOutput', () => {
  it.each([
    ['[1, 2]', [1, 2]],
    ['  [1]\n', [1]],
    ['```json\n[1]\n```', [1]],
    ['```\n[1]```', [1]],
    ['Here it is:\n```json\n[1,\n2]\n```\nI hope it helps.', [1, 2]],
    ['```json\n[1]', [1]],
  ])('parses %j', async (text, value) => expect(await parseOutput(text, list)).toEqual({ kind: 'valid', value }));

  it('treats a fence inside a string as part of it', async () => {
    const text = JSON.stringify({ code: '```js\n1\n```' });
    expect(await parseOutput(text, 'json')).toEqual({ kind: 'valid', value: { code: '```js\n1\n```' } });
  });

  it.each([
    ['Sorry.', list, 'it is not JSON'],
    ['', list, 'it is not JSON'],
    ['```', list, 'it is not JSON'],
    ['[1, "two"]', list, '"output[1]" must be integer, got string'],
    ['{"a": {"__proto__": 1}}', 'json' as const, 'it has the key a.__proto__, which is not allowed'],
    [`${'['.repeat(200)}${']'.repeat(200)}`, list, 'it is nested more than 100 levels deep'],
    ['[1]', 'json' as const, 'it is not a JSON object'],
    ['null', 'json' as const, 'it is not a JSON object'],
  ])('reports the problem of %j', async (text, format, problem) => {
    expect(await parseOutput(text, format)).toEqual({ kind: 'invalid', problem });
  });

  it('does not change the value: no defaults, no type coercion', async () => {
    const schema = { type: 'object', properties: { n: { type: 'number', default: 1 }, s: { type: 'string' } } };
    expect(await parseOutput('{"s": "1", "More": 2}', { schema })).toEqual({
      kind: 'valid',
      value: { s: '1', More: 2 },
    });
  });

  it('abandons a check that would take too long, even through references', async () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [
        `d${i}`,
        i === 39 ? false : { anyOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
      ]),
    );
    expect(await parseOutput('{}', { schema: { $ref: '#/$defs/d0', $defs } })).toMatchObject({ kind: 'unchecked' });
  });
});
