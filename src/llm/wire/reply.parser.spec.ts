import { describe, expect, it } from 'vitest';
import { parseExactJson } from '../../kernel/index.js';
import { toWellFormedJson } from './reply.parser.js';

describe('toWellFormedJson', () => {
  it('replaces unpaired surrogates in texts and keys', () => {
    const body = { 'k\udc00': ['cut \ud83d', { b: '\udfff!' }], n: 1, no: undefined, none: null };
    expect(JSON.parse(toWellFormedJson(body))).toEqual({
      'k\ufffd': ['cut \ufffd', { b: '\ufffd!' }],
      n: 1,
      none: null,
    });
  });

  it('does not change pairs, backslashes and exact integers', () => {
    const body = { a: '😀 \\ud83d', b: '{"text":"\\ud83d"}', c: parseExactJson('12345678901234567890') };
    expect(toWellFormedJson(body)).toBe(JSON.stringify(body));
    expect(toWellFormedJson({ ...body, d: '\ud83d' })).toBe(JSON.stringify({ ...body, d: '\ufffd' }));
  });
});
