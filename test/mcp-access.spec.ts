import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { request } from 'node:http';
import { keyHolder, makeKey } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { gate, newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { newClient, oldClient, runIdOf, textOf } from './support/mcp-clients.js';
import { McpTestTools } from './support/mcp.tool.js';

type Headings = Readonly<Record<string, string>>;

const ANN = keyHolder('ann', 'a', 'admin');
const CY = keyHolder('cy', 'a', 'user');
const BOB = keyHolder('bob', 'b', 'user');
const BOTH: Headings = { accept: 'application/json, text/event-stream' };
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
};
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} };

const tools = new McpTestTools();
let llm: FakeLlm;
let jackdaw: Jackdaw;
beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({
    llm,
    tools: [tools],
    env: {
      API_KEYS: [ANN, CY, BOB].map(({ entry }) => entry).join(','),
      MCP_MAX_SESSIONS: '3',
      MCP_ALLOWED_ORIGINS: 'https://app.example',
    },
  });
});
beforeEach(() => {
  llm.reset();
  llm.always({ text: 'fine' });
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

/** Starts a session. @returns the headers that its requests send */
async function session(who: Headings, on = jackdaw): Promise<Headings> {
  const { headers } = await on.post('/mcp', INITIALIZE, { ...BOTH, ...who });
  return {
    ...BOTH,
    ...who,
    'mcp-session-id': headers.get('mcp-session-id') ?? '',
    'mcp-protocol-version': '2025-11-25',
  };
}

describe('access to the MCP endpoint', () => {
  it('requires one of the scopes that MCP uses', async () => {
    const { headers: operator } = await makeKey(jackdaw, ANN.headers, { scopes: ['usage:read'] });
    const refused = await jackdaw.post('/mcp', LIST, operator);
    expect([refused.status, refused.body['code']]).toEqual([403, 'FORBIDDEN']);
    expect(refused.body['scopes']).toEqual(['tools:call', 'chat', 'sessions:read', 'runs:read']);
  });

  it('limits calls and lists to the caller’s scopes', async () => {
    const { headers } = await makeKey(jackdaw, ANN.headers, { scopes: ['chat'] });
    const client = await newClient(jackdaw.url, { headers });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(['ask_default']);
    await expect(client.callTool({ name: 'weigh', arguments: { thing: 'x' } })).rejects.toThrow('tools:call');
    expect((await client.listResources()).resources).toEqual([]);
    await client.close();
    const viewer = await makeKey(jackdaw, ANN.headers, { role: 'viewer' });
    const reader = await newClient(jackdaw.url, { headers: viewer.headers });
    expect((await reader.listTools()).tools).toEqual([]);
    expect((await reader.listPrompts()).prompts).toEqual([]);
    await reader.close();
  });

  it.each([
    ['http://evil.example', 403],
    ['null', 403],
    ['https://app.example', 200],
    ['http://localhost:6274', 200],
  ])('is answered for a page of %s with %i', async (origin, status) => {
    const answer = await jackdaw.post('/mcp', INITIALIZE, { ...BOTH, ...ANN.headers, origin });
    expect(answer.status).toBe(status);
  });
});

describe('an MCP session', () => {
  it('exists for its principal only', async () => {
    const own = await session(ANN.headers);
    expect((await jackdaw.post('/mcp', LIST, own)).status).toBe(200);
    for (const { headers } of [CY, BOB]) {
      expect((await jackdaw.post('/mcp', LIST, { ...own, ...headers })).status).toBe(404);
      expect((await jackdaw.send('/mcp', { method: 'DELETE', headers: { ...own, ...headers } })).status).toBe(404);
    }
    expect((await jackdaw.post('/mcp', LIST, own)).status).toBe(200);
    expect((await jackdaw.send('/mcp', { method: 'DELETE', headers: own })).status).toBe(200);
    expect((await jackdaw.post('/mcp', LIST, own)).status).toBe(404);
  });

  it('is required for older clients', async () => {
    for (const answer of [
      await jackdaw.post('/mcp', LIST, { ...BOTH, ...ANN.headers }),
      await jackdaw.send('/mcp', { headers: { ...BOTH, ...ANN.headers } }),
    ]) {
      expect([answer.status, answer.body]).toMatchObject([400, { jsonrpc: '2.0', error: { code: -32_000 } }]);
    }
  });

  it('is evicted at the limit: the longest-idle session of the principal with the most sessions goes', async () => {
    const bobs = await session(BOB.headers);
    const first = await session(CY.headers);
    const others = [await session(CY.headers), await session(CY.headers), await session(CY.headers)];
    expect((await jackdaw.post('/mcp', LIST, first)).status).toBe(404);
    expect((await jackdaw.post('/mcp', LIST, others[2])).status).toBe(200);
    expect((await jackdaw.post('/mcp', LIST, bobs)).status).toBe(200);
  });
});

describe('the data of another tenant', () => {
  it('appear in no list and at no address, and their changes are notified to their tenant only', async () => {
    const ann = await newClient(jackdaw.url, { headers: ANN.headers });
    const asked = await ann.callTool({ name: 'ask_default', arguments: { message: 'hi' } });
    const { session_id } = asked.structuredContent as { session_id: string };
    const addresses = [`jackdaw://runs/${runIdOf(asked)}`, `jackdaw://sessions/${session_id}`];
    const all = async (client: typeof ann) => (await everything(client)).map(({ uri }) => uri);
    expect(await all(ann)).toEqual(expect.arrayContaining(addresses));
    const bob = await newClient(jackdaw.url, { headers: BOB.headers });
    expect(await all(bob)).not.toEqual(expect.arrayContaining([expect.stringContaining(session_id)]));
    for (const uri of addresses) {
      await expect(ann.readResource({ uri })).resolves.toBeDefined();
      await expect(bob.readResource({ uri })).rejects.toMatchObject({ code: -32_602 });
      await expect(bob.listen({ resourceSubscriptions: [uri] })).rejects.toThrow('There is no resource');
    }
    const continued = { name: 'ask_default', arguments: { message: 'hi', session_id } };
    // A session of another tenant may have the same id.
    expect((await bob.callTool(continued)).structuredContent).toMatchObject({ answer: 'fine' });
    expect(JSON.stringify(llm.requests.at(-1))).not.toContain('"fine"');
    await ann.close();
    await bob.close();
  });
});

describe('an MCP server without API keys', () => {
  let open: Jackdaw;
  beforeAll(async () => {
    open = await startJackdaw({ tools: [tools] });
  });
  afterAll(() => open.stop());

  it('serves only this machine, by its name', async () => {
    const status = (host: string) =>
      new Promise((resolve, reject) => {
        const { port } = new URL(open.url);
        const headers = { host, 'content-type': 'application/json', ...BOTH };
        const sent = request({ port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        sent.on('error', reject);
        sent.end(JSON.stringify(INITIALIZE));
      });
    expect(await status('evil.example')).toBe(403);
    expect(await status('localhost')).toBe(200);
  });

  it('accepts only JSON of a bounded length, and reports errors in JSON-RPC', async () => {
    const big = JSON.stringify({ ...LIST, params: { filler: 'x'.repeat(1_100_000) } });
    const deep = `${'['.repeat(200)}${']'.repeat(200)}`;
    for (const [body, status, code] of [
      ['{"jsonrpc":', 400, -32_700],
      [deep, 400, -32_700],
      [big, 413, -32_000],
    ] as const) {
      const answer = await open.post('/mcp', body, BOTH);
      expect([answer.status, answer.body]).toMatchObject([status, { jsonrpc: '2.0', id: null, error: { code } }]);
    }
    const form = await open.send('/mcp', { method: 'POST', body: 'a=b', headers: { 'content-type': 'text/plain' } });
    expect([form.status, form.body]).toMatchObject([415, { jsonrpc: '2.0', error: { code: -32_000 } }]);
  });

  it('does not exist when it is switched off', async () => {
    const off = await startJackdaw({ env: { MCP_SERVER: 'off' } });
    const answer = await off.post('/mcp', INITIALIZE, BOTH);
    expect([answer.status, answer.body['code']]).toEqual([404, 'NOT_FOUND']);
    await off.stop();
  });
});

describe('a stop of the server', () => {
  it('ends open streams, and hands a call over to the next start instead of cancelling it', async () => {
    const dataDir = newFolder();
    const stopping = await startJackdaw({ tools: [tools], dataDir });
    tools.held = gate();
    tools.aborted = gate();
    const client = await oldClient(stopping.url);
    const stream = await newClient(stopping.url);
    await stream.listen({ toolsListChanged: true });
    const called = client.callTool({ name: 'hold', arguments: {} });
    await tools.held.opened;
    await Promise.all([stopping.stop(), called]);
    expect(textOf(await called)).toContain('when the server has restarted');
    await Promise.allSettled([client.close(), stream.close()]);
    tools.held = gate();
    tools.aborted = gate();
    const next = await startJackdaw({ tools: [tools], dataDir });
    await tools.held.opened;
    expect(tools.heldRun).toBe(runIdOf(await called));
    await next.stop();
  });
});

async function everything(client: Awaited<ReturnType<typeof newClient>>) {
  const found = [];
  for (let cursor: string | undefined; ;) {
    const { resources, nextCursor } = await client.listResources(cursor === undefined ? {} : { cursor });
    found.push(...resources);
    if (nextCursor === undefined) return found;
    cursor = nextCursor;
  }
}
