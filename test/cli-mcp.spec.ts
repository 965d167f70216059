import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keyHolder } from './support/api-keys.js';
import { CliTerminal, runCli, type CliEnd, type CliOptions } from './support/cli.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { untilTool } from './support/mcp/real-servers.js';
import { listed, scripted, untilStatus } from './support/mcp/scripted-servers.js';
import { buildIfStale } from './support/process.js';

const OPERATOR = keyHolder('op', 'o', 'operator|admin');
const PEER = keyHolder('peer', 'p', 'user');

interface Pending {
  readonly digest: string;
  readonly tools: readonly { readonly tool: string; readonly reason: string }[];
}

let folder: string;
let peer: Jackdaw;
let jackdaw: Jackdaw;

const remote = (): CliOptions => ({ cwd: folder, env: { JACKDAW_URL: jackdaw.url, JACKDAW_KEY: OPERATOR.key } });
const cli = (...args: string[]): Promise<CliEnd> => runCli(args, remote());
const jsonOf = async <T>(...args: string[]) => JSON.parse((await cli(...args, '--json')).out) as T;

async function start(): Promise<void> {
  const mcpServers = [scripted('s', { toolsFile: join(folder, 'tools.json') }, { trusted: true, pins: 'hold' })];
  jackdaw = await startJackdaw({
    dataDir: join(folder, 'data'),
    env: {
      API_KEYS: OPERATOR.entry,
      MCP_REST_REGISTRATION: 'true',
      OUTGOING_ALLOW: new URL(peer.url).host,
      ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
    },
    options: { mcpServers },
  });
  await untilStatus(jackdaw, 's');
}

const write = (...tools: object[]) => writeFileSync(join(folder, 'tools.json'), JSON.stringify({ tools }));

beforeAll(async () => {
  buildIfStale();
  folder = newFolder();
  peer = await startJackdaw({ env: { API_KEYS: PEER.entry } });
  write(listed('echo'));
  await start();
});
afterAll(async () => {
  await Promise.all([jackdaw.stop(), peer.stop()]);
  rmSync(folder, { recursive: true });
});

describe('jackdaw mcp add', () => {
  it('adds an HTTP server with its headers and a selection of its tools', async () => {
    const header = `authorization: ${PEER.headers.authorization}`;
    const added = await cli('mcp', 'add', 'peer', `${peer.url}/mcp`, '--header', header, '--tool', 'calc*');
    expect([added.code, added.out]).toEqual([0, expect.stringMatching(/^Added MCP server peer: \w+\.\n$/)]);
    await untilTool(jackdaw, 'peer__calculator');
    expect((await cli('mcp', 'list')).out).toMatch(/^peer +ready +http +1 +0$/m);
    const called = await cli('tools', 'call', 'peer__calculator', '{"expression":"6*7"}');
    expect([called.code, called.out]).toEqual([0, '42\n']);
  });

  it.each([
    ['a name that is used', ['s', 'http://example.com/mcp'], 1, 'MCP_SERVER_DUPLICATE'],
    ['a URL of another kind', ['x', 'file:///etc/passwd'], 1, 'VALIDATION_FAILED'],
    ['a header without a value', ['x', 'http://example.com/mcp', '--header', 'secret'], 2, 'USAGE'],
  ])('refuses %s', async (_what, args, exit, code) => {
    const refused = await cli('mcp', 'add', ...args, '--json');
    expect([refused.code, refused.out, JSON.parse(refused.err)]).toMatchObject([exit, '', { code }]);
    expect((await cli('mcp', 'list')).out).not.toMatch(/^x /m);
  });
});

describe('jackdaw mcp accept', () => {
  beforeEach(async () => {
    await jackdaw.stop();
    write(listed('echo', { description: 'Says it.' }), listed('count'));
    await start();
  });

  it('shows the definitions that wait, accepts none without a person, and all with --yes', async () => {
    const shown = await cli('mcp', 'accept', 's');
    expect(shown).toMatchObject({ code: 0, err: 'Nothing was accepted; --yes accepts.\n' });
    expect(shown.out).toMatch(/^echo: changed$/m);
    expect(shown.out).toContain(String.raw`"before":"\"Does echo.\"","after":"\"Says it.\""`);
    expect(shown.out).toMatch(/^count: new$/m);
    expect((await cli('mcp', 'list')).out).toMatch(/^s +ready +stdio +1 +2$/m);
    const other = await cli('mcp', 'accept', 's', '--yes', '--json', '--digest', '0'.repeat(64));
    expect([other.code, JSON.parse(other.err)]).toMatchObject([1, { status: 409 }]);
    const pending = await jsonOf<Pending>('mcp', 'accept', 's');
    const accepted = await jsonOf<Pending>('mcp', 'accept', 's', '--yes', '--digest', pending.digest);
    expect(accepted.tools.map(({ tool }) => tool).toSorted()).toEqual(['count', 'echo']);
    expect((await cli('mcp', 'accept', 's')).out).toBe('No definition waits.\n');
    expect((await cli('mcp', 'list')).out).toMatch(/^s +ready +stdio +2 +0$/m);
  });

  it('asks a person on a terminal', async () => {
    await jackdaw.stop();
    write(listed('echo'), listed('count'), listed('fail'));
    await start();
    for (const [answer, waiting] of [
      ['n', 2],
      ['y', 0],
    ] as const) {
      const terminal = CliTerminal.start(['mcp', 'accept', 's'], remote());
      await terminal.waitFor('Accept 2 definitions? [y]es, [n]o: ');
      terminal.type(`${answer}\n`);
      await terminal.waitFor(answer === 'y' ? 'Accepted 2 definitions.' : 'Nothing was accepted');
      expect(await terminal.end()).toBe(0);
      expect((await cli('mcp', 'list')).out).toMatch(new RegExp(`^s +ready +stdio +\\d +${waiting}$`, 'm'));
    }
  });
});
