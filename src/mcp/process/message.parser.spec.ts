import { describe, expect, it } from 'vitest';
import { MAX_VALUES } from '../../security/index.js';
import { parseMessage } from './message.parser.js';

describe('parseMessage()', () => {
  it.each([
    ['a result', { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'é' }] } }],
    ['a failure', { jsonrpc: '2.0', id: 'a', error: { code: -32_601, message: 'no' } }],
    ['a request', { jsonrpc: '2.0', id: 2, method: 'ping' }],
    ['a notification', { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } }],
    ['a message of a later protocol', { jsonrpc: '2.0', id: 1, result: {}, more: true }],
  ])('parses %s', (_what, message) => {
    expect(parseMessage(` ${JSON.stringify(message)}\t`)).toEqual(message);
  });

  it.each(['', 'ready', '{"jsonrpc":', '{}', '{"jsonrpc":"1.0","id":1}', '{"jsonrpc":2}', '[]', 'null', '"2.0"', '2'])(
    'returns undefined for %j',
    (line) => {
      expect(parseMessage(line)).toBeUndefined();
      expect(parseMessage(`[${line}]`)).toBeUndefined();
    },
  );

  it('rejects a message with too many values', () => {
    const holding = (values: number) => `{"jsonrpc":"2.0","id":1,"result":{"n":[${Array(values).fill(1).join()}]}}`;
    expect(parseMessage(holding(MAX_VALUES - 10))).toMatchObject({ id: 1 });
    expect(() => parseMessage(holding(MAX_VALUES + 10))).toThrow(`more than ${MAX_VALUES} values`);
  });
});
