import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Jackdaw, startJackdaw } from './support/jackdaw.js';

const ID = /^[\w-]{31}$/;
let jackdaw: Jackdaw;

/** The bytes that answer a text on a raw connection. */
async function raw(message: string): Promise<string> {
  const socket = connect(Number(new URL(jackdaw.url).port), '127.0.0.1');
  socket.end(message);
  return text(socket);
}

describe('the id of a request', () => {
  beforeAll(async () => {
    jackdaw = await startJackdaw();
  });
  afterAll(() => jackdaw.stop());

  it.each<[string, () => Promise<Response>]>([
    ['an answer', () => fetch(`${jackdaw.url}/api/agents`)],
    ['the start page', () => fetch(`${jackdaw.url}/`)],
    ['a stream', () => post('/api/agent/chat/stream', { query: '1 + 1' })],
    ['an MCP answer', () => post('/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' })],
  ])('is in the header of %s, and never the id that the client sent', async (_name, ask) => {
    const { headers, body } = await ask();
    await body?.cancel();
    expect(headers.get('x-request-id')).toMatch(ID);
  });

  it.each<[number, () => Promise<Response>]>([
    [400, () => post('/api/agent/chat', { query: 1 })],
    [400, () => fetch(`${jackdaw.url}/api/agents/%C3`)],
    [404, () => fetch(`${jackdaw.url}/api/none`)],
    [404, () => fetch(`${jackdaw.url}/api/runs/none`)],
    [405, () => fetch(`${jackdaw.url}/api/agents`, { method: 'DELETE' })],
    [415, () => fetch(`${jackdaw.url}/api/agent/chat`, { method: 'POST', body: 'x' })],
  ])('is in the header and the body of a problem %i', async (status, ask) => {
    const answer = await ask();
    expect(answer.status).toBe(status);
    const id = answer.headers.get('x-request-id');
    expect(id).toMatch(ID);
    expect(await answer.json()).toMatchObject({ request_id: id });
  });

  it('is in the answer to a request that is not HTTP', async () => {
    const answer = await raw('no HTTP\r\n\r\n');
    const [, id] = /^X-Request-Id: (.*)\r$/m.exec(answer) ?? [];
    expect(id).toMatch(ID);
    expect(answer).toContain(`"request_id":"${id}"`);
  });

  function post(path: string, body: object): Promise<Response> {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-request-id': 'client',
    };
    return fetch(`${jackdaw.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  }
});

describe('a prefix', () => {
  beforeAll(async () => {
    jackdaw = await startJackdaw({ env: { HTTP_PREFIX: '/bird', HTTP_BODY_LIMIT_BYTES: '2048' } });
  });
  afterAll(() => jackdaw.stop());

  it('is before every route, and other paths are unknown', async () => {
    const statuses = await Promise.all(
      ['/bird/api/agents', '/bird/docs', '/bird/docs/json', '/bird/', '/api/agents', '/', '/birdapi/agents'].map(
        async (path) => (await fetch(jackdaw.url + path)).status,
      ),
    );
    expect(statuses).toEqual([200, 200, 200, 200, 404, 404, 404]);
    expect(await (await fetch(`${jackdaw.url}/api/agents`)).json()).toMatchObject({ detail: 'Cannot GET /api/agents' });
  });

  it('is in the address of a new run, and in the command of the start page', async () => {
    const run = await fetch(`${jackdaw.url}/bird/api/agent/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"1 + 1"}',
    });
    expect(run.status).toBe(202);
    const location = run.headers.get('location')!;
    expect(location).toMatch(/^\/bird\/api\/runs\//);
    expect((await fetch(jackdaw.url + location)).status).toBe(200);
    const page = await fetch(`${jackdaw.url}/bird`);
    expect(page.url).toBe(`${jackdaw.url}/bird/`);
    expect(await page.text()).toContain(`curl -s ${jackdaw.url}/bird/api/agent/chat`);
  });

  it('leaves the size limit of bodies as configured', async () => {
    const post = async (length: number) => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
      const body = JSON.stringify({ metadata: { note: 'x'.repeat(length) } });
      return (await fetch(`${jackdaw.url}/bird/api/sessions`, { ...init, body })).status;
    };
    expect([await post(1_000), await post(3_000)]).toEqual([201, 413]);
  });
});

describe('an idle connection', () => {
  beforeAll(async () => {
    jackdaw = await startJackdaw({ env: { HTTP_KEEP_ALIVE_MS: '1000' } });
  });
  afterAll(() => jackdaw.stop());

  it('is closed after HTTP_KEEP_ALIVE_MS, which the server announces', async () => {
    const agent = new Agent({ keepAlive: true });
    const hint = await new Promise<unknown>((resolve, reject) => {
      request(`${jackdaw.url}/api/agents`, { agent }, (reply) => {
        reply.resume();
        resolve(reply.headers['keep-alive']);
      })
        .on('error', reject)
        .end();
    });
    agent.destroy();
    expect(hint).toBe('timeout=1');
  });
});
