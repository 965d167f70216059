import { beforeAll, describe, expect, it } from 'vitest';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { COMMANDS } from '../src/cli/command.registry.js';
import { COMMON_OPTIONS } from '../src/cli/command-line.parser.js';
import { VERSION } from '../src/kernel/index.js';
import { runCli } from './support/cli.js';
import { tableCells } from './support/markdown-table.js';
import { buildIfStale } from './support/process.js';

beforeAll(() => buildIfStale());

const [COMMANDS_PART = ''] = readFileSync('docs/cli.md', 'utf8').split('## Commands')[1]?.split('\n## ') ?? [];

describe('the command line', () => {
  it('prints its version', async () => {
    expect(await runCli(['--version'])).toEqual({ code: 0, out: `${VERSION}\n`, err: '' });
  });

  it('lists all commands in its help', async () => {
    const { code, out } = await runCli(['--help']);
    expect(code).toBe(0);
    expect(COMMANDS.filter(({ name, summary }) => !out.includes(`  ${name}`) || !out.includes(summary))).toEqual([]);
  });

  it.each(COMMANDS.map((command) => [command.name, command] as const))(
    'shows the arguments and options of %s in its help',
    async (name, command) => {
      const { code, out, err } = await runCli([...name.split(' '), '--help']);
      const words = [
        command.summary,
        command.json,
        ...(command.arguments ?? []).map((argument) => argument.help),
        ...Object.entries({ ...command.options, ...COMMON_OPTIONS }).map(([option]) => `--${option}`),
      ];
      expect([code, err, words.filter((word) => !out.includes(word))]).toEqual([0, '', []]);
    },
  );

  it.each([
    [[], /^Usage: jackdaw/],
    [['nonsense'], /^There is no command "nonsense"\. `jackdaw help` lists the commands\.$/m],
    [['chatt'], /^There is no command "chatt"\. Did you mean "chat"\? /m],
    [['run', 'list'], /^There is no command "run"\. Did you mean "runs"\? /m],
    [['runs'], /^A word is missing: runs list, .*runs export\.$/m],
    [['runs', 'dance'], /^There is no command "runs dance": runs list/],
    [['runs', 'list', '--colour'], /^Unknown option '--colour'\. See `jackdaw runs list --help`\.$/m],
    [['runs', 'show'], /^The argument <run> is missing; usage: jackdaw runs show <run>$/m],
    [['runs', 'show', 'a', 'b'], /^There are too many arguments; usage:/],
    [['runs', 'list', '--limit', 'many'], /^--limit must be a whole number\.$/m],
    [['tools', 'call', 'x', 'no json'], /^The arguments must be JSON/],
    [['usage', '--by', 'moon'], /^--by must be day, session, agent or model\.$/m],
    [['key', 'entry', 'a b'], /^The id, the tenant and every role are 1 to 64/],
    [['chat'], /^The message is empty/],
  ])('refuses %j with the exit code 2', async (args, message) => {
    const { code, out, err } = await runCli(args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
  });

  it('reports a wrong call as problem details with --json', async () => {
    const { code, out, err } = await runCli(['runs', 'list', '--colour', '--json']);
    expect([code, out]).toEqual([2, '']);
    expect(JSON.parse(err)).toMatchObject({ code: 'USAGE', status: 400, detail: expect.stringContaining('--colour') });
  });

  it('makes an entry of API_KEYS whose hash is that of the key', async () => {
    const { out } = await runCli(['key', 'entry', 'ops', '--tenant', 'acme', '--roles', 'admin,ops', '--json']);
    const { key, entry } = JSON.parse(out) as { key: string; entry: string };
    const env = { API_KEYS: entry, JACKDAW_KEY: key, DATABASE_URL: 'sqlite::memory:' };
    expect(entry).toMatch(/^ops:acme:admin\|ops:[0-9a-f]{64}$/);
    expect(await runCli(['agents'], { env })).toMatchObject({ code: 0 });
    expect(await runCli(['agents'], { env: { ...env, JACKDAW_KEY: 'jd_other' } })).toMatchObject({
      code: 1,
      err: expect.stringContaining('This API key is unknown'),
    });
  });
});

describe('docs/cli.md', () => {
  it('lists exactly the commands, with their summaries and JSON', () => {
    const rows = tableCells(COMMANDS_PART)
      .slice(1)
      .map(([name = '', effect, json]) => [name.replaceAll('`', ''), effect, json]);
    const usage = ({ name, arguments: specs = [] }: (typeof COMMANDS)[number]) =>
      [name, ...specs.map((spec) => (spec.isOptional ? `[${spec.name}]` : `<${spec.name}>`))].join(' ');
    expect(rows).toEqual(COMMANDS.map((one) => [usage(one), one.summary, one.json]));
  });

  it('serves an MCP client over standard input and output', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'jackdaw-cli-'));
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [resolve('lib/cli.js'), 'mcp', 'stdio'],
      cwd: folder,
      env: { LLM_PROVIDER: 'offline', LOG_LEVEL: 'silent' },
    });
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(transport);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('calculator');
    await client.close();
    rmSync(folder, { recursive: true, force: true });
  });
});
