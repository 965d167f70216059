import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { rmSync } from 'node:fs';
import { McpRegistry } from '../src/mcp/index.js';
import { keyHolder } from './support/api-keys.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { realServer, serversFile } from './support/mcp/real-servers.js';

const ADMIN = keyHolder('ada', 'default', 'admin');
const OPERATOR = keyHolder('olga', 'default', 'operator');
const FOLDER = newFolder();

let jackdaw: Jackdaw;
beforeAll(async () => {
  jackdaw = await startJackdaw({
    env: {
      API_KEYS: `${ADMIN.entry},${OPERATOR.entry}`,
      ACCESS_LOG: 'on',
      MCP_SERVERS_FILE: serversFile(FOLDER, { everything: realServer('everything') }),
    },
  });
  for (const id of ['one', 'two']) await jackdaw.post('/api/sessions', { id }, ADMIN.headers);
  for (const name of ['one', 'two']) await jackdaw.post('/api/keys', { name, role: 'user' }, ADMIN.headers);
  for (const sessionId of ['one', 'two']) await jackdaw.chat({ query: '1 + 1', sessionId }, ADMIN.headers);
  await jackdaw.app.get(McpRegistry, { strict: false }).get('everything').offered();
});
afterAll(async () => {
  await jackdaw.stop();
  rmSync(FOLDER, { recursive: true });
});

const get = (path: string) => jackdaw.get(path, (path.includes('usage/tenants') ? OPERATOR : ADMIN).headers);
const fieldsOf = (body: Record<string, unknown>) =>
  body['errors'] && [...new Set((body['errors'] as { field: string }[]).map(({ field }) => field))];

describe('a query', () => {
  it.each(['0x10', '1e1', '+1', '%201', '1.0', '-1', '', '١'])('has no number written as %s', async (text) => {
    for (const path of [
      'runs?limit',
      'sessions?limit',
      'keys?limit',
      'runs/x/journal?after',
      'tool-states/x/history?before',
    ]) {
      const { status, body } = await get(`/api/${path}=${text}`);
      expect([path, status, fieldsOf(body)]).toEqual([path, 400, [path.split('?')[1]]]);
    }
    const turn = await get(`/api/sessions/one/turns/${text || 'x'}/export`);
    expect(turn.status).not.toBe(200);
  });

  it.each(['0x1', '1e0', '+1', '%201'])('has no number in a path written as %s', async (text) => {
    const { body } = await get('/api/runs?limit=1');
    const runId = (body['runs'] as unknown as { run_id: string }[])[0]!.run_id;
    expect((await get(`/api/runs/${runId}/files/${text}`)).status).toBe(400);
  });

  it('has no day that does not exist', async () => {
    for (const path of ['runs?from', 'runs?to', 'usage?from', 'usage?to', 'usage/tenants?from', 'access-log?from']) {
      const { status, body } = await get(`/api/${path}=2030-02-30`);
      expect([path, status, fieldsOf(body)]).toEqual([path, 400, [path.split('?')[1]]]);
    }
    const key = await jackdaw.post('/api/keys', { name: 'x', role: 'user', expiresAt: '2030-02-30' }, ADMIN.headers);
    expect([key.status, fieldsOf(key.body)]).toEqual([400, ['expiresAt']]);
  });

  it('filters by an empty value', async () => {
    for (const path of ['tool-states?sessionId=', 'tool-states?tool=', 'runs?sessionId=', 'runs?agent=']) {
      const { status, body } = await get(`/api/${path}`);
      expect([path, status, Object.values(body).flat().filter(Boolean)]).toEqual([path, 200, []]);
    }
  });
});

describe('a cursor', () => {
  const LISTS = [
    'runs',
    'sessions',
    'keys',
    'access-log',
    'usage?by=session',
    'usage?by=day',
    'tool-states',
    'usage/tenants',
  ];

  it('is of the list that it is given to, and continues it', async () => {
    const cursors = new Map<string, string>();
    for (const list of LISTS) {
      const { body } = await get(`/api/${list}${list.includes('?') ? '&' : '?'}limit=1`);
      if (typeof body['next'] === 'string') cursors.set(list, body['next']);
    }
    expect([...cursors.keys()]).toEqual(['runs', 'sessions', 'keys', 'access-log', 'usage?by=session']);
    for (const [from, cursor] of cursors) {
      for (const list of LISTS) {
        const { status, body } = await get(`/api/${list}${list.includes('?') ? '&' : '?'}cursor=${cursor}`);
        const expected = list === from ? [200, undefined] : [400, ['cursor']];
        expect([from, list, status, fieldsOf(body)]).toEqual([from, list, ...expected]);
      }
    }
  });

  it.each(['x', '1.x', 'runs.', 'runs.x', 'runs.MS54=', 'runs.bnVsbA', ''])('is no other text: %s', async (text) => {
    for (const list of LISTS) {
      const { status } = await get(`/api/${list}${list.includes('?') ? '&' : '?'}cursor=${text}`);
      expect([list, status]).toEqual([list, 400]);
    }
  });
});

describe('another method of a known path', () => {
  it.each([
    ['GET', '/api/agent/chat', 'POST'],
    ['DELETE', '/api/runs', 'GET, HEAD'],
    ['PUT', '/api/sessions/one', 'DELETE, GET, HEAD'],
    ['POST', '/api/runs/x/files/1', 'GET, HEAD'],
    ['OPTIONS', '/api/runs/?x=1', 'GET, HEAD'],
    ['POST', '/', 'GET, HEAD'],
  ])('is 405 with Allow: %s %s', async (method, path, allow) => {
    const answer = await jackdaw.send(path, { method, headers: { 'content-type': 'application/json' } });
    expect([answer.status, answer.headers.get('allow'), answer.body['code']]).toEqual([
      405,
      allow,
      'METHOD_NOT_ALLOWED',
    ]);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  });

  it('is 404 on an unknown path', async () => {
    expect((await jackdaw.send('/api/nothing', { method: 'PATCH' })).status).toBe(404);
    expect((await jackdaw.send('/api/runs/a/b/c', { method: 'GET' })).status).toBe(404);
  });
});

describe('a request that is not valid HTTP', () => {
  it.each([
    ['a wrong version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n', 400],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['large headers', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    ['a long URL', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
  ])('is answered with a problem, and its connection is closed: %s', async (_name, request, status) => {
    const { head, problem } = await answerTo((socket) => socket.write(request));
    expect(head).toMatch(new RegExp(`^http/1.1 ${status} `));
    expect(head).toContain('content-type: application/problem+json');
    expect(head).toContain('connection: close');
    expect(problem).toMatchObject({ type: 'about:blank', status, code: 'REQUEST_REFUSED' });
  });

  it('is answered with a problem when its headers do not arrive in time', async () => {
    const server: Server = jackdaw.app.getHttpServer();
    server.once('connection', (socket) => {
      const late = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      // As Node does after 60 s.
      socket.once('data', () => server.emit('clientError', late, socket));
    });
    const { head, problem } = await answerTo((socket) => socket.write('GET / HTTP/1.1\r\n'));
    expect(head).toMatch(/^http\/1\.1 408 /);
    expect(head).toContain('connection: close');
    expect(problem).toMatchObject({ status: 408, code: 'REQUEST_TIMEOUT' });
  });

  /** The answer on a connection of its own, until the server closes it; its head in lower case. */
  async function answerTo(send: (socket: Socket) => void) {
    const socket = connect(Number(new URL(jackdaw.url).port), '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
    send(socket);
    await once(socket, 'close');
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    return { head: head.toLowerCase(), problem: JSON.parse(body) as unknown };
  }
});

describe('a mistake in a request to an MCP server', () => {
  const SERVER = '/api/mcp/servers/everything';
  const prompt = async (body: unknown) => {
    const answer = await jackdaw.post(`${SERVER}/prompt`, body, ADMIN.headers);
    return [answer.status, answer.body['code'], fieldsOf(answer.body)];
  };

  it('is 400 with the argument that a prompt requires', async () => {
    expect(await prompt({ name: 'args-prompt', arguments: { city: 'Oslo' } })).toEqual([200, undefined, undefined]);
    expect(await prompt({ name: 'args-prompt' })).toEqual([400, 'VALIDATION_FAILED', ['arguments.city']]);
    expect(await prompt({ name: 'args-prompt', arguments: { state: 'x' } })).toEqual([
      400,
      'VALIDATION_FAILED',
      ['arguments.city'],
    ]);
  });

  it('has a message for a model that calls the tool of prompts', async () => {
    const { body } = await jackdaw.post(
      '/api/tools/everything__get_prompt/call',
      { arguments: { name: 'args-prompt' } },
      ADMIN.headers,
    );
    expect(body).toMatchObject({ code: 'TOOL_FAILED', error: expect.stringContaining('arguments.city') });
  });

  it('is 404 for an unknown prompt or resource, with any code of the server', async () => {
    expect(await prompt({ name: 'nothing' })).toEqual([404, 'PROMPT_NOT_FOUND', undefined]);
    for (const uri of [
      'demo://nothing',
      'demo://resource/static/document/nothing.md',
      'demo://resource/dynamic/text/x',
      'x',
    ]) {
      const { status, body } = await get(`${SERVER}/resource?uri=${encodeURIComponent(uri)}`);
      expect([uri, status, body['code']]).toEqual([uri, 404, 'RESOURCE_NOT_FOUND']);
    }
  });
});
