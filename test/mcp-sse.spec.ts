import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { McpRegistry } from '../src/mcp/index.js';
import { callTool } from './support/direct-calls.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { CLIENT, GuardedServer } from './support/mcp/guarded-server.js';
import { PersonProvider } from './support/mcp/person-provider.js';
import { serversFile } from './support/mcp/real-servers.js';
import { untilStatus } from './support/mcp/scripted-servers.js';
import { SseServer, type SseOptions } from './support/mcp/sse-server.js';
import { WebServer } from './support/web-server.js';

const folder = newFolder();
const TOKEN = 'canary-token-0123456789';
let jackdaw: Jackdaw;
let server: SseServer | undefined;
let web: WebServer | undefined;
let guarded: GuardedServer;
beforeAll(async () => {
  guarded = await GuardedServer.start();
});
beforeEach(() => void guarded.reset());
afterAll(async () => {
  await guarded.close();
  rmSync(folder, { recursive: true });
});
afterEach(async () => {
  await jackdaw.stop();
  await Promise.all([server?.close(), web?.close()]);
  server = web = undefined;
});

async function start(declared: object, status = 'ready', options?: SseOptions): Promise<void> {
  server = await SseServer.start(options);
  const MCP_SERVERS_FILE = serversFile(folder, { old: { url: server.url, ...declared } });
  jackdaw = await startJackdaw({
    env: { MCP_SERVERS_FILE, OUTGOING_ALLOW: '127.0.0.1', MCP_MAX_MESSAGE_BYTES: '100000' },
  });
  await untilStatus(jackdaw, 'old', status);
}
const stateOf = () => jackdaw.app.get(McpRegistry).get('old').state;
const echo = async (args: object) => (await callTool(jackdaw, 'old__echo', { arguments: { ...args } })).body['result'];

describe('an MCP server over HTTP with Server-Sent Events', () => {
  it('is declared by its type', async () => {
    await start({ type: 'sse' });
    expect(await echo({ text: 'grüße' })).toBe('{"text":"grüße"}');
    expect((await jackdaw.get('/api/mcp/servers/old')).body).toMatchObject({
      transport: 'sse',
      protocol: '2025-11-25',
      server_info: { name: 'of-2024' },
    });
    expect(server!.requests.some((request) => request.startsWith('POST /sse'))).toBe(false);
  });

  it.each([{}, { type: 'http' }])('is detected after a POST that answers 4xx: %j', async (declared) => {
    await start(declared);
    expect(await echo({ a: 1 })).toBe('{"a":1}');
    expect((await jackdaw.get('/api/mcp/servers')).body['servers']).toMatchObject([{ transport: 'sse' }]);
    const methods = server!.requests.map((request) => request.split(' ').slice(0, 2).join(' '));
    expect(methods.indexOf('POST /sse')).toBeLessThan(methods.indexOf('GET /sse'));
  });

  it('is not accepted if the endpoint event names another origin', async () => {
    web = await WebServer.start();
    await start({ type: 'sse' }, 'failed', { endpoint: `${web.url}/message` });
    expect(stateOf().error).toMatch(/origin/);
    expect(web.requests).toEqual([]);
  });

  it('receives the token with the stream and with each message', async () => {
    await start({ auth: { type: 'bearer', token: TOKEN } }, 'ready', { tokens: new Set([TOKEN]) });
    expect(await echo({})).toBe('{}');
    expect(server!.requests.filter((request) => !request.endsWith(`Bearer ${TOKEN}`))).toEqual([]);
  });

  it('gets a token from its authorization server', async () => {
    const { authority, tokens } = guarded;
    const auth = { type: 'client_credentials', ...CLIENT };
    await start({ type: 'sse', auth }, 'ready', { tokens, authority: authority.url });
    tokens.clear();
    expect(await echo({ again: true })).toBe('{"again":true}');
    expect(authority.at('/token')).toHaveLength(2);
  });

  it('is connected when a person has consented', async () => {
    const { authority, tokens } = guarded;
    server = await SseServer.start({ tokens, authority: authority.url });
    const person = new PersonProvider(authority.url);
    const http = { url: server.url, auth: { type: 'provider', provider: person } } as const;
    const mcpServers = [{ name: 'old', enabled: true, type: 'sse', http } as const];
    jackdaw = await startJackdaw({ env: { OUTGOING_ALLOW: '127.0.0.1' }, options: { mcpServers } });
    await person.sent;
    expect(stateOf().status).toBe('connecting');
    person.comeBack({ code: 'the-code' });
    await untilStatus(jackdaw, 'old');
    expect(await echo({ a: 1 })).toBe('{"a":1}');
  });

  it('that requires a token says so', async () => {
    await start({ type: 'sse' }, 'failed', { tokens: new Set() });
    expect(stateOf().error).toMatch(/requires authentication \(401\).*"auth"/);
  });

  it('is reconnected after its stream has ended', async () => {
    await start({ type: 'sse' });
    server!.endStreams();
    await untilStatus(jackdaw, 'old', 'failed');
    expect(stateOf().error).toMatch(/stream/);
    await untilStatus(jackdaw, 'old');
    expect([await echo({ n: 2 }), stateOf().connects]).toEqual(['{"n":2}', 2]);
  });

  it('is reconnected after a message that is too long', async () => {
    await start({ type: 'sse' });
    const { body } = await callTool(jackdaw, 'old__echo', { arguments: { text: 'x'.repeat(200_000) } });
    expect(body['error']).toMatch(/event stream failed: .*longer than the limit of 100000 bytes/);
    await untilStatus(jackdaw, 'old');
    expect(await echo({ n: 3 })).toBe('{"n":3}');
  });

  it('gets the cancellation of a call', async () => {
    await start({ type: 'sse' });
    const answered = callTool(jackdaw, 'old__wait');
    await server!.untilCalls('waiting', 1);
    const { body } = await jackdaw.get('/api/runs?status=running');
    const [run] = body['runs'] as unknown as { run_id: string }[];
    await jackdaw.post(`/api/runs/${run!.run_id}/cancel`);
    expect((await answered).body).toMatchObject({ success: false, code: 'RUN_CANCELLED' });
    await server!.untilCalls('cancelled', 1);
    expect([await echo({ n: 4 }), stateOf().connects]).toEqual(['{"n":4}', 1]);
  });

  it('gets the cancellation of a call that takes too long', async () => {
    await start({ type: 'sse', timeoutMs: 500 });
    const { body } = await callTool(jackdaw, 'old__wait');
    expect(body).toMatchObject({ success: false, code: 'TOOL_TIMEOUT' });
    await server!.untilCalls('cancelled', 1);
    expect([await echo({ n: 5 }), stateOf().connects]).toEqual(['{"n":5}', 1]);
  });

  it('is left at the shutdown', async () => {
    await start({ type: 'sse' });
    expect(server!.streams).toBe(1);
    await jackdaw.app.close();
    await server!.untilStreams(0);
  });

  it('that is neither old nor new reports the status and the body of its answer', async () => {
    web = await WebServer.start();
    web.on(
      '/mcp',
      (_request, reply) => void reply.writeHead(404, { 'content-type': 'text/html' }).end('<b>no such page</b>'),
    );
    await start({ url: `${web.url}/mcp` }, 'failed');
    expect(stateOf().error).toMatch(/404.*no such page/s);
  });

  it.each([
    [408, 'slow down', ['POST']],
    [429, 'slow down', ['POST']],
    [404, 'no such page', ['POST', 'GET']],
  ])('is not read from a stream without an endpoint event after a POST with %d', async (status, body, methods) => {
    web = await WebServer.start();
    web.on('/mcp', ({ method }, reply) => {
      if (method === 'POST') return void reply.writeHead(status).end(body);
      reply.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: ping\ndata: {}\n\n');
    });
    await start({ url: `${web.url}/mcp` }, 'failed');
    expect(stateOf().error).toBe(`HTTP ${status}: ${body}`);
    expect([...new Set(web.requests.map(({ method }) => method))]).toEqual(methods);
  });

  it('is a type of servers declared in code', async () => {
    server = await SseServer.start();
    const mcpServers = [{ name: 'old', enabled: true, type: 'sse', http: { url: server.url } } as const];
    jackdaw = await startJackdaw({ options: { mcpServers } });
    await untilStatus(jackdaw, 'old');
    expect(await echo({ a: [] })).toBe('{"a":[]}');
  });
});
