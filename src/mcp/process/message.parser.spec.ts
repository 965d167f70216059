import { describe, expect, it } from 'vitest';
import { MAX_VALUES } from '../../security/egress/index.js';
import { parseMessage, strictJson, strictResponse } from './message.parser.js';

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

const START = { jsonrpc: '2.0', id: 1 } as const;

describe('a response of JSON-RPC', () => {
  it.each([
    [{ result: { a: 1, _meta: null }, error: null }, { result: { a: 1 } }],
    [{ result: { a: 1, _meta: 'odd' } }, { result: { a: 1 } }],
    [{ result: null }, { result: {} }],
    [{ result: true }, { error: { code: -32_603, message: 'Its result is of type boolean instead of an object.' } }],
    [{ result: 'done' }, { error: { code: -32_603, message: 'Its result is of type string instead of an object.' } }],
    [{ result: [1] }, { error: { code: -32_603, message: 'Its result is a list instead of an object.' } }],
    [{ result: null, error: { code: -1, message: 'x', data: 5 } }, { error: { code: -1, message: 'x', data: 5 } }],
    [{ error: { code: '-32601', message: 'x' } }, { error: { code: -32_601, message: 'x' } }],
    [{ error: { code: 'E_GONE', message: null } }, { error: { code: -32_603, message: 'It gave no reason.' } }],
    [{ error: { message: 'boom' } }, { error: { code: -32_603, message: 'boom' } }],
    [{ error: { code: -32_000 } }, { error: { code: -32_000, message: 'It gave no reason.' } }],
    [{ error: 'broken' }, { error: { code: -32_603, message: 'broken' } }],
  ])('becomes strict: %j', (given, expected) => {
    const message = { ...START, ...given };
    expect(strictResponse(message)).toEqual({ ...START, ...expected });
    expect(JSON.parse(strictJson(JSON.stringify(message)))).toEqual({ ...START, ...expected });
  });

  it.each([
    { ...START, result: { _meta: { a: 1 }, content: [] } },
    { ...START, error: { code: -1, message: 'x' } },
    { jsonrpc: '2.0', method: 'notifications/progress', params: { _meta: null } },
    { ...START, method: 'ping' },
    [],
  ])('is unchanged if it is strict, and so is any other message: %j', (message) => {
    expect(strictResponse(message)).toEqual(message);
    expect(JSON.parse(strictJson(JSON.stringify(message)))).toEqual(message);
  });

  it('is unchanged if it is no JSON', () => {
    expect(strictJson('{"error":null')).toBe('{"error":null');
  });
});
