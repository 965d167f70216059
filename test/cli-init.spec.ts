import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { load } from 'js-yaml';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli, type CliEnd, type CliOptions } from './support/cli.js';
import { buildIfStale, killAll, ServerProcess } from './support/process.js';
import { inShortForm } from './support/long-form.js';

interface Compose {
  readonly services: Record<
    string,
    { readonly build: { readonly dockerfile_inline: string }; readonly environment: Record<string, string> }
  >;
  readonly volumes: object;
}

let folder: string;

beforeAll(() => buildIfStale());
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'jackdaw-cli-'))));
afterEach(async () => {
  await killAll();
  rmSync(folder, { recursive: true });
});

const cli = (args: string, options: CliOptions = {}): Promise<CliEnd> =>
  runCli(args.split(' '), { cwd: folder, ...options });

interface Check {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
}

async function doctor(env: Record<string, string> = {}): Promise<{ code: number | null; checks: readonly Check[] }> {
  const { code, out } = await cli('doctor --json', { env: { PORT: '0', ...env } });
  return { code, ...(JSON.parse(out) as { checks: readonly Check[] }) };
}

/** @returns the URL of a server in the folder, which answers */
async function serve(): Promise<string> {
  const variables = { LLM_PROVIDER: 'offline', LOG_LEVEL: 'info', LOG_FORMAT: 'json' };
  const started = ServerProcess.start(join(process.cwd(), 'lib/cli.js'), variables, ['serve', '--port', '0'], folder);
  await started.waitForOutput(/Jackdaw serves http:\/\/127\.0\.0\.1:\d+/);
  return /Jackdaw serves (http:\/\/127\.0\.0\.1:\d+)/.exec(started.output)![1]!;
}

describe('jackdaw init', () => {
  it('writes a project whose agent answers without a key', async () => {
    const { code, out } = await cli('init');
    expect([code, out.match(/^created +\S+$/gm)?.length]).toEqual([0, 6]);
    expect(statSync(join(folder, '.env')).mode & 0o77).toBe(0);
    const { code: verdict, checks } = await doctor();
    expect(checks.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'node ok',
      'configuration ok',
      'agents ok',
      'database ok',
      'model warning',
      'port ok',
    ]);
    expect([verdict, existsSync(join(folder, 'data'))]).toEqual([0, false]);
    expect(await cli('chat', { input: '6*7' })).toEqual({ code: 0, out: '42\n', err: '' });
    expect((await cli('agents')).out).toMatch(/^default \(default\) .*Answers questions and calculates\.$/m);
  });

  it('writes a tool in code, which the commands and the server load', async () => {
    await cli('init');
    expect(await cli('tools call weather {"city":"Oslo"}')).toEqual({
      code: 0,
      out: 'Sunny in Oslo, 24 °C\n',
      err: '',
    });
    expect((await cli('chat', { input: 'call weather Rome' })).out).toBe('Sunny in Rome, 24 °C\n');
    const env = { JACKDAW_URL: await serve() };
    expect((await cli('chat', { input: 'call weather Bonn', env })).out).toContain('in Bonn');
  });

  it('writes a compose file of one service, without root and with known variables', async () => {
    await cli('init');
    const { services, volumes } = load(readFileSync(join(folder, 'compose.yaml'), 'utf8')) as Compose;
    const { agents } = services;
    expect(agents).toMatchObject({ env_file: '.env', read_only: true, cap_drop: ['ALL'], volumes: ['data:/data'] });
    expect(Object.keys(volumes)).toEqual(['data']);
    expect(agents!.build.dockerfile_inline.split('\n')).toEqual(
      expect.arrayContaining(['COPY config config', 'USER node', 'CMD ["node", "node_modules/jackdaw/lib/main.js"]']),
    );
    const { entry } = JSON.parse((await cli('key entry me --roles admin --json')).out) as { entry: string };
    const env = { ...agents!.environment, DATA_DIR: './data', PORT: '0' };
    const found = (await doctor({ ...env, API_KEYS: entry })).checks.find(({ name }) => name === 'configuration');
    expect(found).toEqual({ name: 'configuration', status: 'ok', detail: 'valid' });
    expect((await doctor(env)).checks.at(-1)?.detail).toContain('API_KEYS');
  });

  it.each(
    inShortForm(1, [
      ['export default 7;', 'config/tools.js has no list of tools'],
      ['export default [', 'config/tools.js cannot be imported: '],
      ["export default [{ name: 'a b', description: '', handler() {} }];", 'config/tools.js: "a b"'],
    ]),
  )('refuses %j as the tools of a folder, and names the file', async (text, message) => {
    await cli('init');
    writeFileSync(join(folder, 'config/tools.js'), text);
    expect(await cli('agents')).toMatchObject({ code: 1, out: '', err: expect.stringContaining(message) });
  });

  it('changes no existing file, and names it', async () => {
    writeFileSync(join(folder, '.env'), 'PORT=0\n');
    expect(JSON.parse((await cli('init --json')).out)).toMatchObject({
      created: ['package.json', '.gitignore', 'config/agents/default.json', 'config/tools.js', 'compose.yaml'],
      existing: ['.env'],
    });
    expect(readFileSync(join(folder, '.env'), 'utf8')).toBe('PORT=0\n');
    expect(JSON.parse((await cli('init --json')).out)).toMatchObject({ created: [] });
  });
});
