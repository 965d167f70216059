import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli, type CliEnd } from './support/cli.js';
import { FakeLlm } from './support/fake-llm.js';
import { buildIfStale, killAll, ServerProcess } from './support/process.js';

let llm: FakeLlm;
let folder: string;

beforeAll(async () => {
  buildIfStale();
  llm = await FakeLlm.start();
});
afterAll(() => llm.close());
beforeEach(() => {
  llm.reset();
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-replay-'));
  mkdirSync(join(folder, 'config/agents'), { recursive: true });
  instruct('Answer in one word.');
});
afterEach(async () => {
  await killAll();
  rmSync(folder, { recursive: true });
});

function instruct(instructions: string): void {
  const agent = { name: 'support', model: { provider: 'openai' }, tools: [], instructions };
  writeFileSync(join(folder, 'config/agents/support.json'), JSON.stringify(agent));
}

const cli = (args: string, env: Record<string, string> = {}): Promise<CliEnd> =>
  runCli(args.split(' '), { cwd: folder, env: { ...llm.env, ...env } });

async function ask(env?: Record<string, string>): Promise<string> {
  llm.reply({ text: 'Yes.' });
  const { out } = await cli('chat --agent support --json Really?', env);
  return (JSON.parse(out) as { run_id: string }).run_id;
}

describe('jackdaw replay', () => {
  it('checks files and ids of runs against the folder, calls no model, and shows the first divergence', async () => {
    const id = await ask();
    expect(await cli(`runs export ${id} --output run.json`)).toMatchObject({ code: 0 });
    const asked = llm.requests.length;
    expect(await cli('replay run.json')).toMatchObject({ code: 0, out: expect.stringContaining('1 same, 0 diverged') });
    expect(await cli(`replay ${id} run.json`)).toMatchObject({ code: 0, out: expect.stringContaining('2 same') });
    instruct('Answer in two words.');
    const file = await cli('replay run.json');
    expect([file.code, file.out]).toEqual([
      1,
      expect.stringMatching(/ model:1: the request of the model call differs$/m),
    ]);
    expect(file.out).toMatch(/^ {4}- .*one word\.$/m);
    expect(file.out).toMatch(/^ {4}\+ .*two words\.$/m);
    const { code, out } = await cli('replay --since 1h --json');
    expect([code, JSON.parse(out)]).toEqual([
      1,
      {
        same: 0,
        diverged: 1,
        unsupported: 0,
        runs: [
          expect.objectContaining({
            run_id: id,
            status: 'diverged',
            divergence: expect.objectContaining({ step: 'model:1' }),
          }),
        ],
      },
    ]);
    expect((await cli('replay --since 1h --agent other')).out).toContain('0 same, 0 diverged');
    expect(llm.requests).toHaveLength(asked);
  });

  it('exports runs of the server of JACKDAW_URL, and checks them against the folder', async () => {
    const program = join(process.cwd(), 'lib/cli.js');
    const variables = { ...llm.env, LOG_LEVEL: 'info', LOG_FORMAT: 'json' };
    const server = ServerProcess.start(program, variables, ['serve', '--port', '0'], folder);
    await server.waitForOutput(/Jackdaw serves http:\/\/127\.0\.0\.1:\d+/);
    const [, JACKDAW_URL = ''] = /Jackdaw serves (http:\/\/127\.0\.0\.1:\d+)/.exec(server.output) ?? [];
    const id = await ask({ JACKDAW_URL });
    expect(await cli(`replay ${id}`, { JACKDAW_URL })).toMatchObject({ code: 0 });
    instruct('Answer in two words.');
    expect(await cli(`replay ${id}`, { JACKDAW_URL })).toMatchObject({ code: 1 });
  });

  it('ends with 2 for a wrong call and unreadable files, and with 1 for an unknown run', async () => {
    writeFileSync(join(folder, 'other.json'), '{"run_id":"x"}');
    for (const args of ['replay', 'replay none.json', 'replay other.json', 'replay --since week']) {
      const { code, err } = await cli(args);
      expect([args, code, err]).toEqual([args, 2, expect.stringMatching(/Name a run|none\.json|other\.json|--since/)]);
    }
    expect(await cli('replay none')).toMatchObject({ code: 1, err: 'There is no run "none".\n' });
    expect(readFileSync(join(folder, 'other.json'), 'utf8')).toBe('{"run_id":"x"}');
  });
});
