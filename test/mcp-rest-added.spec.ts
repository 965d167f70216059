import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { McpServerService } from '../src/mcp/index.js';
import { ToolTrust } from '../src/mcp/trust/tool-trust.service.js';
import { Database } from '../src/persistence/index.js';
import { ToolRegistry } from '../src/tool/index.js';
import { keyHolder } from './support/api-keys.js';
import { callTool } from './support/direct-calls.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { untilTool } from './support/mcp/real-servers.js';
import { listed, scripted, untilStatus } from './support/mcp/scripted-servers.js';
import { describeDatabases, testServers } from './support/test-databases.js';

const OPERATOR = keyHolder('op', 'o', 'operator');
const ADMIN = keyHolder('ann', 'a', 'admin');
const USER = keyHolder('bob', 'b', 'user');
const PEER = keyHolder('peer', 'p', 'user');
const KEYS = [OPERATOR, ADMIN, USER].map(({ entry }) => entry).join(',');
const POSTGRES = (await testServers()).filter(({ kind }) => kind === 'postgres');
const SERVERS = '/api/mcp/servers';

let peer: Jackdaw;
beforeAll(async () => {
  peer = await startJackdaw({ env: { API_KEYS: PEER.entry } });
});
afterAll(() => peer.stop());

/** The declaration of the peer. */
const declaration = (name = 'peer') => ({ name, url: `${peer.url}/mcp`, headers: { ...PEER.headers }, trusted: true });
const allowed = () => ({ OUTGOING_ALLOW: new URL(peer.url).host, MCP_REST_REGISTRATION: 'true', API_KEYS: KEYS });

describe('a server that is added over REST', () => {
  const folder = newFolder();
  let jackdaw: Jackdaw;
  const start = async () => {
    const env = { ...allowed(), ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}` };
    const mcpServers = [scripted('file', { tools: [listed('echo')] })];
    jackdaw = await startJackdaw({ env, dataDir: folder, options: { mcpServers } });
  };
  beforeAll(start);
  afterAll(async () => {
    await jackdaw.stop();
    rmSync(folder, { recursive: true });
  });
  const add = (body: object, headers = OPERATOR.headers) => jackdaw.post(SERVERS, body, headers);
  const remove = async (name: string, headers = OPERATOR.headers) =>
    jackdaw.send(`${SERVERS}/${name}`, { method: 'DELETE', headers });

  it('is available at once for every tenant, and after a restart', async () => {
    const { status, body } = await add(declaration());
    expect([status, body]).toMatchObject([201, { name: 'peer', transport: 'http', source: 'REST: "peer"' }]);
    await untilTool(jackdaw, 'peer__calculator');
    for (const { headers } of [ADMIN, USER]) {
      const called = await callTool(jackdaw, 'peer__calculator', { arguments: { expression: '6*7' } }, headers);
      expect(called.body).toMatchObject({ result: '42' });
    }
    await jackdaw.stop();
    await start();
    await untilStatus(jackdaw, 'peer');
    expect((await jackdaw.get(`${SERVERS}/peer`, OPERATOR.headers)).body).toMatchObject({
      status: 'ready',
      connects: 1,
    });
  });

  it('is stored encrypted, and its headers are not disclosed', async () => {
    const rows = await jackdaw.app.get(Database).query<{ declaration: string }>('SELECT * FROM mcp_server');
    expect(rows).toHaveLength(1);
    const shown = await Promise.all(['', '/peer'].map((path) => jackdaw.get(SERVERS + path, OPERATOR.headers)));
    expect(JSON.stringify([rows, shown.map(({ text }) => text)])).not.toContain(PEER.key);
    expect(rows[0]!.declaration).not.toContain('"url"');
  });

  it.each([
    ['an admin of a tenant', ADMIN],
    ['a user', USER],
  ])('is neither added nor removed nor read by %s', async (_who, { headers }) => {
    const path = `${SERVERS}/peer`;
    const answers = await Promise.all([
      add(declaration('mine'), headers),
      remove('peer', headers),
      jackdaw.get(path, headers),
      jackdaw.post(`${path}/reconnect`, undefined, headers),
      jackdaw.post(`${path}/tools/accept`, { tool: 'x', digest: '0'.repeat(64) }, headers),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
  });

  it.each([
    ['a program', { name: 'x', command: '/bin/sh', args: ['-c', 'id'] }, 'VALIDATION_FAILED'],
    ['a program beside a URL', { name: 'x', url: 'http://example.com', command: '/bin/sh' }, 'VALIDATION_FAILED'],
    ['an unknown field', { name: 'x', url: 'http://example.com', untrusted: false }, 'VALIDATION_FAILED'],
    ['a file URL', { name: 'x', url: 'file:///etc/passwd' }, 'VALIDATION_FAILED'],
    ['a name that shadows a tool', { name: 'file__echo', url: 'http://example.com' }, 'MCP_SERVER_INVALID'],
    ['an empty name', { name: '', url: 'http://example.com' }, 'VALIDATION_FAILED'],
    ['an invalid header name', { name: 'x', url: 'http://example.com', headers: { 'a b': '1' } }, 'MCP_SERVER_INVALID'],
    ['a line break in a header', { name: 'x', url: 'http://e.com', headers: { a: '1\r\nb: 2' } }, 'MCP_SERVER_INVALID'],
    ['a number as a header value', { name: 'x', url: 'http://example.com', headers: { a: 1 } }, 'MCP_SERVER_INVALID'],
    [
      'an unsupported authentication type',
      { name: 'x', url: 'http://e.com', auth: { type: 'basic' } },
      'MCP_SERVER_INVALID',
    ],
  ])('is refused with %s', async (_what, body, code) => {
    expect(await add(body)).toMatchObject({ status: 400, body: { code } });
    expect((await jackdaw.get(`${SERVERS}/x`, OPERATOR.headers)).status).toBe(404);
  });

  it('has a unique name', async () => {
    for (const name of ['peer', 'file']) {
      expect(await add(declaration(name))).toMatchObject({ status: 409, body: { code: 'MCP_SERVER_DUPLICATE' } });
    }
    const both = await Promise.all([add(declaration('double')), add(declaration('double'))]);
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([201, 409]));
    expect((await remove('double')).status).toBe(204);
  });

  it('is not connected with the value of an environment variable', async () => {
    const { status } = await add({ ...declaration('env'), headers: { 'X-Key': '${API_KEYS}' } });
    expect(status).toBe(201);
    await untilStatus(jackdaw, 'env', 'failed');
    expect((await remove('env')).status).toBe(204);
  });

  it('is closed before the pins of its tools are deleted: a later refresh stores none', async () => {
    const { app } = jackdaw;
    await add(declaration('leaving'));
    await untilTool(jackdaw, 'leaving__calculator');
    const leaving = app.get(McpServerService).get('leaving');
    const trust = app.get(ToolTrust);
    const forget = trust.forget.bind(trust);
    trust.forget = async (server) => {
      await forget(server);
      await leaving.refresh();
    };
    expect((await remove('leaving')).status).toBe(204);
    trust.forget = forget;
    const sql = `SELECT tool FROM mcp_tool_pin WHERE server = 'leaving'`;
    expect(await app.get(Database).query(sql)).toEqual([]);
  });

  it('is removed over REST, and a server of the file is not', async () => {
    expect((await remove('peer')).status).toBe(204);
    await untilTool(jackdaw, 'peer__calculator', false);
    const selected = () => jackdaw.app.get(ToolRegistry).select(['peer__calculator']);
    expect(selected).toThrow(expect.objectContaining({ code: 'TOOL_NOT_FOUND' }));
    expect((await remove('peer')).status).toBe(404);
    expect(await remove('file')).toMatchObject({ status: 403, body: { code: 'MCP_REGISTRATION_CLOSED' } });
    await jackdaw.stop();
    await start();
    const { body } = await jackdaw.get(SERVERS, OPERATOR.headers);
    expect((body['servers'] as unknown as { name: string }[]).map(({ name }) => name)).toEqual(['file']);
  });
});

describe('a server with restricted registration', () => {
  let jackdaw: Jackdaw | undefined;
  afterEach(() => jackdaw?.stop());

  it('refuses every server if registration is closed', async () => {
    jackdaw = await startJackdaw({ env: { ...allowed(), MCP_REST_REGISTRATION: 'false' } });
    expect(await jackdaw.post(SERVERS, declaration(), OPERATOR.headers)).toMatchObject({
      status: 403,
      body: { code: 'MCP_REGISTRATION_CLOSED' },
    });
  });

  it('reaches no private address that is not allowed', async () => {
    jackdaw = await startJackdaw({ env: { ...allowed(), OUTGOING_ALLOW: '' } });
    const { port } = new URL(peer.url);
    const urls = [
      `http://127.0.0.1:${port}/mcp`,
      `http://localhost:${port}/mcp`,
      `http://[::ffff:127.0.0.1]:${port}/mcp`,
    ];
    for (const [at, url] of urls.entries()) {
      await jackdaw.post(SERVERS, { ...declaration(`n${at}`), url }, OPERATOR.headers);
      await untilStatus(jackdaw, `n${at}`, 'failed');
      const { body } = await jackdaw.get(`${SERVERS}/n${at}`, OPERATOR.headers);
      expect(body).toMatchObject({ tools: [], error: expect.stringMatching(/OUTGOING_ALLOW|private|refused/i) });
    }
  });
});

describe('a server of a file whose name is also used over REST', () => {
  const folder = newFolder();
  const before = process.cwd();
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    const { name, ...entry } = declaration('file');
    writeFileSync(join(folder, 'RESTAURANT.json'), JSON.stringify({ mcpServers: { [name]: entry } }));
    process.chdir(folder);
    const env = { ...allowed(), OUTGOING_ALLOW: '', MCP_SERVERS_FILE: 'RESTAURANT.json' };
    jackdaw = await startJackdaw({ env }).finally(() => process.chdir(before));
  });
  afterAll(async () => {
    await jackdaw.stop();
    rmSync(folder, { recursive: true });
  });

  it('is the file’s: it may be at a private address, and stays', async () => {
    await jackdaw.app.get(McpServerService).sync();
    await untilTool(jackdaw, 'file__calculator');
    const removed = await jackdaw.send(`${SERVERS}/file`, { method: 'DELETE', headers: OPERATOR.headers });
    expect(removed).toMatchObject({ status: 403, body: { code: 'MCP_REGISTRATION_CLOSED' } });
  });
});

describeDatabases('several nodes', POSTGRES, (created) => {
  const nodes: Jackdaw[] = [];
  afterAll(async () => {
    for (const node of nodes) await node.stop();
  });

  it('have the servers that one of them added, with their latest change', async () => {
    const start = async () => {
      const node = await startJackdaw({ env: { ...allowed(), DATABASE_URL: created().url } });
      nodes.push(node);
      return node;
    };
    const first = await start();
    const second = await start();
    const sync = async () => second.app.get(McpServerService).sync();
    await first.post(SERVERS, { ...declaration(), headers: { 'x-api-key': 'unknown' } }, OPERATOR.headers);
    await sync();
    await untilStatus(second, 'peer', 'failed');
    await first.send(`${SERVERS}/peer`, { method: 'DELETE', headers: OPERATOR.headers });
    await first.post(SERVERS, declaration(), OPERATOR.headers);
    await sync();
    await untilTool(second, 'peer__calculator');
    await first.send(`${SERVERS}/peer`, { method: 'DELETE', headers: OPERATOR.headers });
    await sync();
    expect((await second.get(SERVERS, OPERATOR.headers)).body).toEqual({ servers: [] });
  });
});
