import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ServerResponse } from 'node:http';
import { McpRegistry } from '../src/mcp/index.js';
import { callTool } from './support/direct-calls.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { ScriptedWeb, sendJson, type WebMessage } from './support/mcp/scripted-web.js';
import { untilStatus } from './support/mcp/scripted-servers.js';

type Reply = (reply: ServerResponse, message: WebMessage) => void;

const plain =
  (status: number, text: string, type = 'text/plain'): Reply =>
  (reply) =>
    void reply.writeHead(status, { 'content-type': type }).end(text);
const rpc =
  (status: number, error: object, id?: unknown): Reply =>
  (reply, message) =>
    void sendJson(reply, status, { jsonrpc: '2.0', id: id === undefined ? message.id : id, error });
const events =
  (data: string, isOpen = false): Reply =>
  (reply) => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${data}\n\n`);
    if (!isOpen) reply.end();
  };
const UNKNOWN = { code: -32_601, message: 'Method not found' };

/** Answers of servers of before 2026 to the request `server/discover`, which they do not know. */
const ANSWERS: Readonly<Record<string, Reply>> = {
  '404 with text': plain(404, 'Invalid session ID'),
  '404 with HTML': plain(404, '<html>', 'text/html'),
  '405': plain(405, ''),
  '400 with JSON-RPC and no id': rpc(400, { code: -32_000, message: 'Bad Request: no session' }, null),
  '406': rpc(406, { code: -32_000, message: 'Not Acceptable' }, null),
  '422': plain(422, '{"detail":[]}', 'application/json'),
  '401': plain(401, 'Unauthorized'),
  '401 with a challenge': (reply) =>
    void reply.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end(),
  '403': plain(403, 'Forbidden'),
  '403 for a scope': (reply) =>
    void reply.writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="all"' }).end(),
  '500 with text': plain(500, 'Internal Server Error'),
  '500 with JSON-RPC': rpc(500, { code: -32_603, message: 'Internal error' }),
  '501': plain(501, ''),
  '503': plain(503, 'not this one'),
  '200 with -32700 and no id': rpc(200, { code: -32_700, message: 'Parse error' }, null),
  '200 with the code as text': rpc(200, { code: '-32601', message: 'Method not found' }),
  '200 with no message': rpc(200, { code: -32_601 }),
  '200 with the error as text': (reply, { id }) => void sendJson(reply, 200, { jsonrpc: '2.0', id, error: 'unknown' }),
  '200 with result and error': (reply, { id }) =>
    void sendJson(reply, 200, { jsonrpc: '2.0', id, result: null, error: UNKNOWN }),
  '200 with an empty result': (reply, { id }) => void sendJson(reply, 200, { jsonrpc: '2.0', id, result: {} }),
  '200 with the id of no request': rpc(200, UNKNOWN, 'server-error'),
  '200 with HTML': plain(200, '<html>', 'text/html'),
  '200 with no content': plain(200, '', 'application/json'),
  '200 with broken JSON': plain(200, '{"jsonrpc":', 'application/json'),
  '202': plain(202, ''),
  '204': (reply) => void reply.writeHead(204).end(),
  'an empty stream': (reply) => void reply.writeHead(200, { 'content-type': 'text/event-stream' }).end(),
  'a stream with no id': events(JSON.stringify({ jsonrpc: '2.0', id: null, error: UNKNOWN })),
  'an open stream with no id': events(JSON.stringify({ jsonrpc: '2.0', id: null, error: UNKNOWN }), true),
  'an open stream with another id': events(JSON.stringify({ jsonrpc: '2.0', id: 'other', error: UNKNOWN }), true),
};
const NAMES = Object.keys(ANSWERS);

describe('a server that does not recognise the newest protocol', () => {
  let jackdaw: Jackdaw;
  let webs: ScriptedWeb[];
  beforeAll(async () => {
    webs = await Promise.all(
      Object.values(ANSWERS).map((answer) =>
        ScriptedWeb.start((message, reply) =>
          message.method === 'server/discover' ? (answer(reply, message), true) : undefined,
        ),
      ),
    );
    const mcpServers = webs.map(({ url }, n) => ({
      name: `s${n}`,
      enabled: true,
      type: 'http' as const,
      http: { url },
    }));
    jackdaw = await startJackdaw({ options: { mcpServers } });
  });
  afterAll(async () => {
    await jackdaw.stop();
    await Promise.all(webs.map((web) => web.close()));
  });

  it.each(NAMES)('is connected with an older one at once after %s', async (name) => {
    const server = jackdaw.app.get(McpRegistry, { strict: false }).get(`s${NAMES.indexOf(name)}`);
    await server.connection.until(({ status }) => status !== 'connecting');
    expect(server.state).toMatchObject({ status: 'ready', connects: 1 });
    const { methods } = webs[NAMES.indexOf(name)]!;
    expect(methods.slice(0, 3)).toEqual(['server/discover', 'initialize', 'notifications/initialized']);
  });
});

describe('a server that rejects every request', () => {
  it.each([
    ['401', plain(401, 'no'), /requires authentication \(401\)/],
    ['403', plain(403, 'no'), /refused the request \(403\)/],
    ['503', plain(503, 'later'), /later/],
  ] as const)('reports the reason: %s', async (_status, answer, why) => {
    const web = await ScriptedWeb.start((message, reply) => (answer(reply, message), true));
    const server = { name: 's', enabled: true, type: 'http', http: { url: web.url } } as const;
    const jackdaw = await startJackdaw({ options: { mcpServers: [server] } });
    await untilStatus(jackdaw, 's', 'failed');
    expect(jackdaw.app.get(McpRegistry, { strict: false }).get('s').state.error).toMatch(why);
    await jackdaw.stop();
    await web.close();
  });
});

describe('a server that has forgotten the session', () => {
  let jackdaw: Jackdaw;
  let web: ScriptedWeb;
  afterEach(async () => {
    await jackdaw.stop();
    await web.close();
  });

  /** A server that answers the first call by `forgotten`, as if it had restarted. */
  async function start(forgotten: Reply) {
    let isRestarted = false;
    web = await ScriptedWeb.start((message, reply) => {
      if (message.method === 'initialize') reply.setHeader('mcp-session-id', `s${String(isRestarted)}`);
      if (message.method !== 'tools/call' || isRestarted) return undefined;
      isRestarted = true;
      forgotten(reply, message);
      return true;
    });
    const server = { name: 's', enabled: true, type: 'http', http: { url: web.url } } as const;
    jackdaw = await startJackdaw({ options: { mcpServers: [server] } });
    await untilStatus(jackdaw, 's');
    return (await callTool(jackdaw, 's__good')).body;
  }

  it.each([
    ['404', plain(404, '')],
    ['404 with JSON-RPC', rpc(404, { code: -32_001, message: 'Session not found' }, null)],
    ['410', plain(410, 'Gone')],
    ['400', plain(400, '')],
    ['400 with a text', plain(400, 'Unknown Mcp-Session-Id')],
    ['400 with a word', plain(400, '{"error":"invalid sessionId"}', 'application/json')],
    ['400 of an SDK', rpc(400, { code: -32_000, message: 'Bad Request: Server not initialized' }, null)],
  ])('gets the call again in a new session after %s', async (_answer, forgotten) => {
    expect(await start(forgotten)).toMatchObject({ success: true, result: 'done' });
    expect(jackdaw.app.get(McpRegistry, { strict: false }).get('s').state).toMatchObject({ connects: 2 });
  });

  it('gets a request for its resources again', async () => {
    let isRestarted = false;
    web = await ScriptedWeb.start(({ method }, reply) => {
      if (method === 'initialize') {
        reply.setHeader('mcp-session-id', `s${String(isRestarted)}`);
        const serverInfo = { name: 'x', version: '1' };
        return { protocolVersion: '2025-06-18', capabilities: { resources: {} }, serverInfo };
      }
      if (method !== 'resources/list') return undefined;
      if (isRestarted) return { resources: [{ uri: 'note:1', name: 'A note' }] };
      isRestarted = true;
      reply.writeHead(404).end();
      return true;
    });
    const server = { name: 's', enabled: true, type: 'http', http: { url: web.url } } as const;
    jackdaw = await startJackdaw({ options: { mcpServers: [server] } });
    await untilStatus(jackdaw, 's');
    expect((await jackdaw.get('/api/mcp/servers/s/resources')).body).toMatchObject({ items: [{ uri: 'note:1' }] });
  });

  it.each([
    ['400 for its arguments', rpc(400, { code: -32_602, message: 'No session of this name' })],
    ['409', plain(409, 'a session')],
  ])('gets no call again after %s', async (_answer, rejected) => {
    expect(await start(rejected)).toMatchObject({ success: false, code: 'TOOL_FAILED' });
    expect(web.methods.filter((method) => method === 'tools/call')).toHaveLength(1);
  });
});
