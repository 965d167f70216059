import { describe, expect, it } from 'vitest';
import { parseExactJson } from '../../kernel/json/index.js';
import { WireRequest } from './wire.client.js';

describe('WireRequest', () => {
  it('replaces unpaired surrogates in texts and keys', () => {
    const body = { 'k\udc00': ['cut \ud83d', { b: '\udfff!' }], n: 1, no: undefined, none: null };
    expect(JSON.parse(new WireRequest(body).text)).toEqual({
      'k\ufffd': ['cut \ufffd', { b: '\ufffd!' }],
      n: 1,
      none: null,
    });
  });

  it('does not change pairs, backslashes and exact integers', () => {
    const body = { a: '😀 \\ud83d', b: '{"text":"\\ud83d"}', c: parseExactJson('12345678901234567890') };
    expect(new WireRequest(body).text).toBe(JSON.stringify(body));
    expect(new WireRequest({ ...body, d: '\ud83d' }).text).toBe(JSON.stringify({ ...body, d: '\ufffd' }));
  });

  it('has the JSON of its body, in the order of its fields', () => {
    const tools = [{ type: 'function', function: { name: 'add', parameters: {} } }];
    for (const body of [
      { model: 'm', tools, 'a"b': 1, no: undefined },
      { tools, n: null },
      { tools: [] },
      { model: 'm' },
    ]) {
      expect(new WireRequest(body).json).toBe(JSON.stringify(body));
      expect(new WireRequest(body).text).toBe(JSON.stringify(body));
    }
  });

  it('replaces unpaired surrogates in tools', () => {
    const body = { tools: [{ description: 'cut \ud83d' }], model: 'm' };
    expect(JSON.parse(new WireRequest(body).text)).toEqual({ tools: [{ description: 'cut \ufffd' }], model: 'm' });
  });
});
