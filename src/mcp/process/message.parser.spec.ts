import { describe, expect, it } from '@jest/globals';
import { MAX_VALUES } from '../../security/index.js';
import { parseMessage } from './message.parser.js';

describe('a line that a program writes', () => {
  it.each([
    ['a result', { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'é' }] } }],
    ['a failure', { jsonrpc: '2.0', id: 'a', error: { code: -32_601, message: 'no' } }],
    ['a request', { jsonrpc: '2.0', id: 2, method: 'ping' }],
    ['a notification', { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } }],
    ['what a later protocol may say', { jsonrpc: '2.0', id: 1, result: {}, more: true }],
  ])('is a message when it is %s', (_what, message) => {
    expect(parseMessage(` ${JSON.stringify(message)}\t`)).toEqual(message);
  });

  it.each(['', 'ready', '{"jsonrpc":', '{}', '{"jsonrpc":"1.0","id":1}', '{"jsonrpc":2}', '[]', 'null', '"2.0"', '2'])(
    'is none when it is %j',
    (line) => {
      expect(parseMessage(line)).toBeUndefined();
      expect(parseMessage(`[${line}]`)).toBeUndefined();
    },
  );

  it('has no more values than can be borne', () => {
    const holding = (values: number) => `{"jsonrpc":"2.0","id":1,"result":{"n":[${Array(values).fill(1).join()}]}}`;
    expect(parseMessage(holding(MAX_VALUES - 10))).toMatchObject({ id: 1 });
    expect(() => parseMessage(holding(MAX_VALUES + 10))).toThrow(`more than ${MAX_VALUES} values`);
  });
});
