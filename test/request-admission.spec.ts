import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { keyHolder } from './support/api-keys.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

const ANN = keyHolder('ann', 'a', 'user');
const VIC = keyHolder('vic', 'a', 'viewer');
const JSON_TYPE = { 'content-type': 'application/json' };

const ENV = { API_KEYS: `${ANN.entry},${VIC.entry}` };

let jackdaw: Jackdaw;
beforeAll(async () => {
  jackdaw = await startJackdaw({ env: ENV });
});
afterAll(() => jackdaw.stop());

/** Sends a request whose body never ends. @returns the answer of the server */
async function unfinished(
  path: string,
  headers: Record<string, string | number>,
  start = '',
  { url }: Jackdaw = jackdaw,
) {
  const sent = request(`${url}${path}`, { method: 'POST', headers: { ...JSON_TYPE, ...headers } });
  // After the answer the server may close the connection.
  sent.on('error', () => undefined);
  sent.write(start === '' ? ' ' : start);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const body = JSON.parse(await text(answer)) as Record<string, unknown>;
  sent.destroy();
  return { status: answer.statusCode, code: body['code'], connection: answer.headers.connection };
}

describe('the body of a request without a valid key', () => {
  it.each([
    ['a declared length', { 'content-length': 900_000 }],
    ['chunks', { 'transfer-encoding': 'chunked' }],
    ['an unknown key', { 'content-length': 10_000_000, authorization: 'Bearer unknown' }],
  ])('is not read, with %s', async (_case, headers) => {
    for (const path of ['/api/agent/chat', '/api/sessions/import', '/mcp', '/api/nothing']) {
      expect(await unfinished(path, headers)).toMatchObject({ status: 401 });
    }
  });

  it('has a limit on the time of the whole request, in which also an unread body must arrive', () => {
    expect(jackdaw.app.getHttpServer().requestTimeout).toBe(130_000);
  });

  it('closes the connection if it may be large, and leaves it open otherwise', async () => {
    expect(await unfinished('/api/agent/chat', { 'content-length': 1_000 })).toMatchObject({
      connection: 'keep-alive',
    });
    expect(await unfinished('/api/agent/chat', { 'content-length': 9_000_000 })).toMatchObject({ connection: 'close' });
  });
});

describe('the body of a request with a key', () => {
  it('is not read on a route with large bodies whose scope the key lacks', async () => {
    for (const path of ['/api/agent/chat', '/api/sessions/import']) {
      const headers = { ...VIC.headers, 'content-length': 900_000 };
      expect(await unfinished(path, headers)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    }
  });

  it('is refused if it does not arrive in time', async () => {
    const hurried = await startJackdaw({ env: { ...ENV, REQUEST_TIMEOUT_MS: '500' } });
    const headers = { ...ANN.headers, 'content-length': 1_000 };
    expect(await unfinished('/api/agent/chat', headers, '{"query":', hurried)).toEqual({
      status: 408,
      code: 'REQUEST_TIMEOUT',
      connection: 'close',
    });
    await hurried.stop();
  });

  it('has a limit on its JSON values, compressed or not', async () => {
    const metadata = { list: Array.from({ length: 100_000 }, () => 0) };
    const { status, body } = await jackdaw.post('/api/sessions', { metadata }, ANN.headers);
    expect([status, body['code']]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect(body['detail']).toContain('100000 JSON values');
    const allowed = { list: Array.from({ length: 1_000 }, () => ',[{') };
    expect((await jackdaw.post('/api/sessions', { metadata: allowed }, ANN.headers)).status).toBe(201);
  });
});
