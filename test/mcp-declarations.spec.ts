import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '../src/server/bootstrap.js';
import { loadConfig } from '../src/config/index.js';
import { registerMcp, unregisterMcp, type McpConfig } from '../src/mcp/index.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { serversFile } from './support/mcp/real-servers.js';

const FOLDER = newFolder();
const ENV = { PORT: '0', DATA_DIR: FOLDER, LOG_LEVEL: 'silent', LLM_PROVIDER: 'offline' };
const HTTP = { url: 'http://127.0.0.1:1/mcp' };
const STDIO = { command: '/bin/cat' };
afterAll(() => rmSync(FOLDER, { recursive: true }));

/** The lines of the error that a start fails with. */
async function refusal(env: Record<string, string>, mcpServers: readonly unknown[] = []): Promise<string[]> {
  const { config } = loadConfig({ env: { ...ENV, ...env } });
  const started = serve({ config, mcpServers: mcpServers as readonly McpConfig[] });
  const error: unknown = await started.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: expect.stringMatching(/^(MCP_SERVER_INVALID|MCP_SERVER_DUPLICATE)$/) });
  return (error as Error).message.split('\n');
}

/** The message that the environment alone is refused with. */
function fault(env: Record<string, string>): string {
  try {
    loadConfig({ env: { ...ENV, ...env } });
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('It is not refused.');
}

describe('a file of MCP servers', () => {
  const BAD: readonly [string, unknown, string][] = [
    ['both', { ...HTTP, ...STDIO }, 'give either command (a program) or url (an HTTP server).'],
    ['neither', {}, 'give either command (a program) or url (an HTTP server).'],
    ['text', 'npx server', 'it must be an object.'],
    ['list', [], 'it must be an object.'],
    ['nothing', null, 'it must be an object.'],
    ['odd', { ...HTTP, type: 'websocket' }, 'type: '],
    ['mixed', { ...STDIO, type: 'http' }, 'type: '],
    ['mixed2', { ...HTTP, type: 'stdio' }, 'type: '],
    ['typo', { ...STDIO, arg: ['x'] }, 'arg'],
    ['typo2', { ...HTTP, header: {} }, 'header'],
    ['program-with-headers', { ...STDIO, headers: {} }, 'headers'],
    ['web-with-env', { ...HTTP, env: {} }, 'env'],
    ['empty', { command: '' }, 'command: is empty'],
    ['args', { ...STDIO, args: 'x' }, 'args: '],
    ['number', { ...STDIO, args: ['x', 1] }, 'args.1: '],
    ['nul', { ...STDIO, args: ['a\0b'] }, 'args.0: contains a NUL character'],
    ['env', { ...STDIO, env: { A: 1 } }, 'env.A: '],
    ['ftp', { url: 'ftp://x' }, 'url: is not an http:// or https:// URL'],
    ['no-url', { url: 'example.com/mcp' }, 'url: is not an http:// or https:// URL'],
    ['head', { ...HTTP, headers: { 'a b': 'x' } }, 'headers'],
    ['slow', { ...STDIO, timeoutMs: 0 }, 'timeoutMs: '],
    ['effect', { ...STDIO, effects: { x: 'write' } }, 'effects.x: '],
    ['approval', { ...STDIO, approval: 'sometimes' }, 'approval: '],
    ['pool', { ...HTTP, stateful: true, connection: { poolSize: 2 } }, 'connection: applies to REST tools only'],
    ['state-options', { ...STDIO, stateful: { ttlMs: 5 } }, 'stateful: must be true or false'],
    ['pooled', { ...HTTP, poolSize: 2 }, 'poolSize'],
    ['auth', { ...HTTP, auth: { type: 'basic' } }, 'auth.type: '],
    ['auth2', { ...HTTP, auth: { type: 'client_credentials', clientId: 'x' } }, 'auth.clientSecret: '],
    ['a__b', STDIO, 'the name "a__b" is invalid'],
    ['tail_', STDIO, 'the name "tail_" is invalid'],
    ['_head', STDIO, 'the name "_head" is invalid'],
    ['gіthub', STDIO, 'the name "gіthub" is invalid'],
    ['a b', STDIO, 'the name "a b" is invalid'],
    ['a.b', STDIO, 'the name "a.b" is invalid'],
    ['', STDIO, 'the name "" is invalid'],
    ['x'.repeat(33), STDIO, 'is invalid: use 1 to 32 letters'],
    ['off', { ...HTTP, ...STDIO, disabled: true }, 'give either command'],
  ];

  it('is refused with all mistakes in it, each with the file and the server', async () => {
    const path = serversFile(FOLDER, { fine: STDIO, ...Object.fromEntries(BAD) });
    const lines = await refusal({ MCP_SERVERS_FILE: path });
    expect(lines).toEqual(
      BAD.map(([name, , what]) =>
        expect.stringMatching(new RegExp(`^${escaped(`${path}: ${JSON.stringify(name)}`)}: .*${escaped(what)}`)),
      ),
    );
  });

  it('is limited to the allowed programs', async () => {
    const path = serversFile(FOLDER, { cat: STDIO, npx: { command: 'npx' }, ls: { command: '/bin/ls' }, web: HTTP });
    expect(await refusal({ MCP_SERVERS_FILE: path, MCP_ALLOWED_COMMANDS: '/bin/cat' })).toEqual([
      `${path}: "npx": "npx" is not in MCP_ALLOWED_COMMANDS: add it there (by its absolute path).`,
      `${path}: "ls": "/bin/ls" is not in MCP_ALLOWED_COMMANDS: add it there.`,
    ]);
    expect(fault({ MCP_ALLOWED_COMMANDS: 'npx' })).toContain('MCP_ALLOWED_COMMANDS');
  });

  it('is refused for an unset variable, together with the mistakes of the environment', () => {
    const path = serversFile(FOLDER, { a: { ...HTTP, headers: { X: '${A_KEY} ${B_KEY} ${C_KEY:-}' } } });
    const message = fault({ MCP_SERVERS_FILE: path, B_KEY: 'b', PORT: 'x' });
    expect(message).toContain(`${path} refers to \${A_KEY}, which is not set: set it, or give a default: \${A_KEY:-…}`);
    expect(message).toContain('PORT');
    expect(message).not.toMatch(/B_KEY|C_KEY/);
  });

  it.each([
    ['a text that is not JSON', '{', 'is not JSON'],
    ['no servers', '{}', '{ "mcpServers": { … } }'],
    ['a list', '{"mcpServers": []}', '{ "mcpServers": { … } }'],
    ['other fields than the servers', '{"mcpServers": {}, "inputs": []}', '{ "mcpServers": { … } }'],
  ])('is refused when it holds %s', (_what, text, said) => {
    const path = join(FOLDER, 'bad.json');
    writeFileSync(path, text);
    expect(fault({ MCP_SERVERS_FILE: path })).toContain(`${path} `);
    expect(fault({ MCP_SERVERS_FILE: path })).toContain(said);
  });

  it('is refused when it is named and does not exist', () => {
    expect(fault({ MCP_SERVERS_FILE: '/no/such/file.json' })).toContain('/no/such/file.json cannot be read');
  });
});

describe('servers that code declares', () => {
  const stdio = (name: string, more: object = {}) => ({ name, enabled: true, type: 'stdio', stdio: STDIO, ...more });
  afterEach(async () => {
    await unregisterMcp('registered');
  });

  it('are refused like those of the file', async () => {
    registerMcp({ name: 'registered', enabled: true, type: 'http' });
    const lines = await refusal({}, [
      stdio('fine'),
      stdio('http', { type: 'http' }),
      stdio('both', { http: HTTP }),
      { name: 'none', enabled: true, type: 'http' },
      stdio('kind', { type: 'websocket' }),
      stdio('said', { enabled: 'yes' }),
      stdio('more', { command: 'x' }),
      stdio('a__b'),
      { enabled: true, type: 'stdio', stdio: STDIO },
      null,
      stdio('pooled', { stateful: true, connection: { poolSize: 2 } }),
    ]);
    expect(lines).toEqual([
      'mcpServers[1]: its type is http, but it has no http: give http only.',
      'mcpServers[2]: its type is stdio, but it also has http: give stdio only.',
      'mcpServers[3]: its type is http, but it has no http: give http only.',
      expect.stringMatching(/^mcpServers\[4\]: type: /),
      expect.stringMatching(/^mcpServers\[5\]: enabled: /),
      expect.stringMatching(/^mcpServers\[6\]: .*command/),
      expect.stringMatching(/^mcpServers\[7\]: the name "a__b" is invalid/),
      expect.stringMatching(/^mcpServers\[8\]: name: /),
      expect.stringMatching(/^mcpServers\[9\]: /),
      expect.stringMatching(/^mcpServers\[10\]: connection: applies to REST tools only/),
      'registerMcp("registered"): its type is http, but it has no http: give http only.',
    ]);
  });

  it('cannot share a name with the file', async () => {
    const path = serversFile(FOLDER, { twice: { ...STDIO, disabled: true } });
    const lines = await refusal({ MCP_SERVERS_FILE: path }, [stdio('twice', { enabled: false })]);
    expect(lines).toEqual([`mcpServers[0]: MCP server "twice" exists already (${path}: "twice"): rename one of them.`]);
  });
});

describe('a server that is disabled', () => {
  let jackdaw: Jackdaw;
  afterAll(() => jackdaw.stop());

  it('is listed and not started', async () => {
    const path = serversFile(FOLDER, {
      off: { command: '/no/such/program', disabled: true },
      off2: { command: '/no/such/program', enabled: false },
    });
    jackdaw = await startJackdaw({ env: { MCP_SERVERS_FILE: path }, dataDir: FOLDER });
    const { body } = await jackdaw.get('/api/mcp/servers');
    expect(body['servers']).toMatchObject(
      ['off', 'off2'].map((name) => ({ name, status: 'disabled', since: 0, connects: 0, tools: [] })),
    );
    expect(await jackdaw.post('/api/mcp/servers/off/reconnect')).toMatchObject({
      status: 409,
      body: { code: 'MCP_SERVER_DISABLED' },
    });
    expect(await jackdaw.get('/api/mcp/servers/of')).toMatchObject({
      status: 404,
      body: { code: 'MCP_SERVER_NOT_FOUND' },
    });
    const resources = await jackdaw.get('/api/mcp/servers/off/resources');
    expect(resources.body).toMatchObject({ code: 'MCP_SERVER_DISABLED' });
    expect((await jackdaw.get('/api/mcp/servers/off')).body).toMatchObject({ status: 'disabled', connects: 0 });
  });
});

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
