import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { request } from 'node:http';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { McpTestTools } from './support/mcp.tool.js';

type Headings = Readonly<Record<string, string>>;

const VERSION = '2025-06-18';
const CLIENT = { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: 'x', version: '1' } };
const INITIALIZE = { jsonrpc: '2.0', id: 1, method: 'initialize', params: CLIENT };
const CALL = { name: 'walk', arguments: {}, _meta: { progressToken: 'p' } };
const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const JSON_TYPE = 'application/json';
const EVENTS_TYPE = 'text/event-stream';

let jackdaw: Jackdaw;
beforeAll(async () => {
  jackdaw = await startJackdaw({ tools: [new McpTestTools()] });
});
afterAll(() => jackdaw.stop());

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly session: string;
  readonly text: string;
}

/** `fetch` always sends an `Accept` header. */
async function send(message: object, accept: string | undefined, headers: Headings = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const all = { 'content-type': JSON_TYPE, ...(accept !== undefined && { accept }), ...headers };
    const asked = request(`${jackdaw.url}/mcp`, { method: 'POST', headers: all }, (reply) => {
      let text = '';
      const { 'content-type': type = '', 'mcp-session-id': session = '' } = reply.headers;
      reply.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, type, session: String(session), text }));
    });
    asked.on('error', reject).end(JSON.stringify(message));
  });
}

const ACCEPTED: readonly (readonly [string | undefined, RegExp])[] = [
  [undefined, /./],
  ['*/*', /./],
  ['application/*, text/*', /./],
  ['application/json, text/event-stream', /./],
  ['application/json;q=0.9, */*;q=0.1', /./],
  [JSON_TYPE, /^application\/json/],
  ['Application/JSON; charset=utf-8', /^application\/json/],
  ['*/*, text/event-stream;q=0', /^application\/json/],
  [EVENTS_TYPE, /^text\/event-stream/],
  ['text/*', /^text\/event-stream/],
];

describe.each(ACCEPTED)('a client of /mcp that sends Accept: %s', (accept, type) => {
  it('is served in an accepted form in a session', async () => {
    const { session, ...started } = await send(INITIALIZE, accept);
    expect(started).toMatchObject({ status: 200, type: expect.stringMatching(type) });
    expect(started.text).toContain('"serverInfo"');
    const headers = { 'mcp-session-id': session, 'mcp-protocol-version': VERSION };
    const called = await send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: CALL }, accept, headers);
    expect(called).toMatchObject({ status: 200, type: expect.stringMatching(type) });
    expectResult(called);
    expect(await send({ jsonrpc: '2.0', method: 'notifications/initialized' }, accept, headers)).toMatchObject({
      status: 202,
    });
  });

  it('is served in an accepted form in the newest protocol', async () => {
    const params = { ...CALL, _meta: { ...MODERN_META, progressToken: 'p' } };
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'walk' };
    const called = await send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params }, accept, headers);
    expect(called).toMatchObject({ status: 200, type: expect.stringMatching(type) });
    expectResult(called);
  });
});

it('the stream of a session answers before its first event', async () => {
  const { session } = await send(INITIALIZE, undefined);
  const headers = { accept: EVENTS_TYPE, 'mcp-session-id': session, 'mcp-protocol-version': VERSION };
  // The first keepalive of the SDK comes after 15 s.
  const stream = await fetch(`${jackdaw.url}/mcp`, { headers, signal: AbortSignal.timeout(14_000) });
  expect([stream.status, stream.headers.get('content-type')]).toEqual([200, EVENTS_TYPE]);
  await stream.body?.cancel();
});

it('a client of /mcp that accepts neither form gets 406', async () => {
  expect(await send(INITIALIZE, 'text/html')).toMatchObject({ status: 406 });
  expect(await send(INITIALIZE, '*/*;q=0')).toMatchObject({ status: 406 });
});

it('a client that accepts only JSON gets 406 for a stream of changes, which would never be complete', async () => {
  const params = { notifications: { toolsListChanged: true }, _meta: MODERN_META };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' };
  const message = { jsonrpc: '2.0', id: 3, method: 'subscriptions/listen', params };
  expect(await send(message, JSON_TYPE, headers)).toMatchObject({ status: 406 });
});

function expectResult({ type, text }: Answer): void {
  const data = type.startsWith(JSON_TYPE) ? text : String(text.match(/^data: (.*"id":2.*)$/m)?.[1]);
  expect(JSON.parse(data)).toMatchObject({ id: 2, result: { content: [{ text: 'arrived' }] } });
}
