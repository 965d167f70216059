import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EnvRecord } from '../src/config/index.js';
import { McpRegistry } from '../src/mcp/index.js';
import { callTool } from './support/direct-calls.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { CLIENT, GuardedServer } from './support/mcp/guarded-server.js';
import { untilStatus } from './support/mcp/scripted-servers.js';
import { WebServer } from './support/web-server.js';

const OAUTH = { type: 'client_credentials', clientId: CLIENT.clientId, clientSecret: '${THE_SECRET}' };
const BEARER = { type: 'bearer', token: 'canary-token-given' };
const HEADERS = { 'X-Api-Key': 'canary-key' };

let guarded: GuardedServer;
let other: WebServer;
let folder: string;
let jackdaw: Jackdaw | undefined;
const warn = vi.spyOn(console, 'warn');
beforeAll(async () => {
  guarded = await GuardedServer.start();
  other = await WebServer.start();
  folder = newFolder();
});
beforeEach(() => {
  guarded.reset();
  other.reset();
  warn.mockReset();
});
afterEach(async () => {
  await jackdaw?.stop();
  jackdaw = undefined;
});
afterAll(async () => {
  warn.mockRestore();
  await guarded.close();
  await other.close();
  rmSync(folder, { recursive: true });
});

/** Starts with one server, declared in the file. */
async function start(declared: object, env: EnvRecord = {}): Promise<Jackdaw> {
  const path = join(folder, 'mcp-servers.json');
  writeFileSync(path, JSON.stringify({ mcpServers: { guarded: { url: guarded.url, ...declared } } }));
  const own = { MCP_SERVERS_FILE: path, THE_SECRET: CLIENT.clientSecret, OUTGOING_ALLOW: '127.0.0.1' };
  jackdaw = await startJackdaw({ env: { ...own, LOG_LEVEL: 'trace', ...env } });
  return jackdaw;
}

const serverOf = (started: Jackdaw) => started.app.get(McpRegistry, { strict: false }).get('guarded');
const stateOf = (started: Jackdaw) => serverOf(started).connection.state;
const echo = async (started: Jackdaw, args = { a: 1 }) =>
  (await callTool(started, 'guarded__echo', { arguments: args })).body;
const ping = async (started: Jackdaw) =>
  serverOf(started).connection.use((client) => client.ping(), AbortSignal.timeout(60_000));
const tokenRequests = () => guarded.authority.at('/token');

/** The status, the log and the failure of a server, as text to search for secrets. */
async function shown(started: Jackdaw): Promise<string> {
  const failure = await ping(started).then(
    () => null,
    (error: Error & { code: string }) => [error.code, error.message, String(error.cause), error.stack],
  );
  return JSON.stringify([stateOf(started), started.log, warn.mock.calls, failure]);
}

async function startRefused(declared: object, env?: EnvRecord): Promise<Jackdaw> {
  const started = await start(declared, env);
  await untilStatus(started, 'guarded', 'failed');
  await expect(ping(started)).rejects.toMatchObject({ code: 'PERMISSION_DENIED', name: 'McpError' });
  expect(await shown(started)).not.toMatch(/canary|amFja2Rhdy1jbGllbnQ/);
  return started;
}

describe('an MCP server that requires a token', () => {
  it('receives the declared token', async () => {
    guarded.tokens.add(BEARER.token);
    const started = await start({ auth: BEARER });
    await untilStatus(started, 'guarded');
    expect(await echo(started)).toMatchObject({ success: true, result: '{"a":1}' });
    expect(guarded.authority.requests).toEqual([]);
  });

  it('is not called again after it rejects the token, and the token is not disclosed', async () => {
    const started = await startRefused({ auth: BEARER });
    expect(stateOf(started).error).toContain('it rejected the access token');
  });
});

describe('client credentials', () => {
  it('obtain a token for this server, and a new one when it has expired', async () => {
    const started = await start({ auth: { ...OAUTH, scope: 'birds' } });
    await untilStatus(started, 'guarded');
    expect(await echo(started)).toMatchObject({ result: '{"a":1}' });
    guarded.tokens.clear();
    expect(await echo(started, { a: 2 })).toMatchObject({ result: '{"a":2}' });
    const asked = tokenRequests().map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
    const expected = { grant_type: 'client_credentials', resource: guarded.url, scope: 'birds' };
    expect(asked).toEqual([expected, expected]);
  });

  it('obtain one token for many concurrent calls', async () => {
    const started = await start({ auth: OAUTH });
    await untilStatus(started, 'guarded');
    guarded.tokens.clear();
    const results = await Promise.all(Array.from({ length: 10 }, (_, a) => echo(started, { a })));
    expect(results.map((result) => result['result'])).toEqual(results.map((_, a) => `{"a":${a}}`));
    expect(tokenRequests()).toHaveLength(2);
  });

  it('are not retried repeatedly when the new token is rejected too', async () => {
    const started = await start({ auth: OAUTH });
    await untilStatus(started, 'guarded');
    guarded.mcp.on('/mcp', (_request, reply) => void reply.writeHead(401).end());
    const before = guarded.mcp.at('/mcp').length;
    expect(await echo(started)).toMatchObject({
      code: 'TOOL_FAILED',
      error: expect.stringContaining('rejected the access token'),
    });
    expect(guarded.mcp.at('/mcp')).toHaveLength(before + 2);
  });

  it('are reported when they are wrong, and not disclosed, whatever the server says', async () => {
    const started = await startRefused({ auth: OAUTH }, { THE_SECRET: 'canary-wrong' });
    expect(stateOf(started).error).toContain(`${guarded.authority.url} issued no token: invalid_client`);
    expect(tokenRequests()).toHaveLength(1);
  });

  it('are not sent where outgoing calls are refused', async () => {
    const started = await startRefused({ auth: OAUTH }, { OUTGOING_ALLOW: '' });
    await expect(ping(started)).rejects.toMatchObject({ cause: { code: 'OUTGOING_REFUSED' } });
    expect(guarded.authority.requests).toEqual([]);
  });

  it('are sent to the declared authorization server only', async () => {
    const started = await startRefused({ auth: { ...OAUTH, issuer: 'https://login.example.com' } });
    expect(stateOf(started).error).toContain('https://login.example.com');
    expect(tokenRequests()).toEqual([]);
  });

  it('are sent to no other authorization server than the first, if none is declared', async () => {
    const started = await start({ auth: OAUTH });
    await untilStatus(started, 'guarded');
    guarded.name(other);
    guarded.present(other);
    guarded.tokens.clear();
    expect(await echo(started)).toMatchObject({ code: 'TOOL_FAILED', error: expect.stringContaining(other.url) });
    expect(other.at('/token')).toEqual([]);
  });

  it('are not sent to a server that does not identify itself as an authorization server', async () => {
    guarded.authority.json('/.well-known/oauth-authorization-server', {}, 404);
    await startRefused({ auth: OAUTH });
    expect([...tokenRequests(), ...guarded.mcp.at('/token')]).toEqual([]);
  });
});

describe('the credentials of an MCP server', () => {
  it.each([
    ['token', { auth: BEARER }],
    ['header', { headers: HEADERS }],
  ])('are not sent to another origin: no %s follows a redirect', async (_name, declared) => {
    guarded.mcp.on('/mcp', (_request, reply) => void reply.writeHead(307, { location: `${other.url}/mcp` }).end());
    const started = await start(declared);
    await untilStatus(started, 'guarded', 'failed');
    expect(stateOf(started).error).toContain(`Redirect to ${other.url}/mcp not followed`);
    expect(other.requests).toEqual([]);
  });

  it('stay with it: its headers do not reach the authorization server', async () => {
    const started = await start({ auth: OAUTH, headers: HEADERS });
    await untilStatus(started, 'guarded');
    expect(guarded.mcp.at('/mcp').every(({ headers }) => headers['x-api-key'] === 'canary-key')).toBe(true);
    expect(guarded.authority.requests.filter(({ headers }) => headers['x-api-key'])).toEqual([]);
  });
});
