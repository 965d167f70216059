import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli, type CliEnd } from './support/cli.js';
import { FakeLlm } from './support/fake-llm.js';
import { buildIfStale } from './support/process.js';

const KEYS = { ENCRYPTION_KEYS: `k1:${'A'.repeat(43)}=` };

let llm: FakeLlm;
let folder: string;

beforeAll(async () => {
  buildIfStale();
  llm = await FakeLlm.start();
});
afterAll(() => llm.close());
beforeEach(() => {
  llm.reset();
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-cassette-'));
  mkdirSync(join(folder, 'config/agents'), { recursive: true });
  const agent = { name: 'support', model: { provider: 'openai', name: 'gpt-4o' }, tools: [], instructions: 'Answer.' };
  writeFileSync(join(folder, 'config/agents/support.json'), JSON.stringify(agent));
});
afterEach(() => rmSync(folder, { recursive: true }));

const cli = (args: readonly string[], env: Record<string, string> = {}): Promise<CliEnd> =>
  runCli(args, { cwd: folder, env: { ...llm.env, ...env } });

async function ask(question: string, env?: Record<string, string>): Promise<string> {
  llm.reply({ text: 'Bob has mail at bob@example.net.' });
  const { out } = await cli(['chat', '--agent', 'support', '--json', question], env);
  return (JSON.parse(out) as { run_id: string }).run_id;
}

describe('jackdaw cassette from-run', () => {
  it('writes the cassette of a run or an export, which answers without a provider', async () => {
    const id = await ask('Write to Bob at bob@example.net');
    const written = await cli(['cassette', 'from-run', id, '--output', 'run.jsonl', '--mask', 'Bob']);
    expect([written.code, written.out, written.err]).toEqual([
      0,
      '',
      '1 lines are written to run.jsonl. Check them for names and other private texts.\n',
    ]);
    const text = readFileSync(join(folder, 'run.jsonl'), 'utf8');
    expect(text).not.toMatch(/Bob|bob@/);
    expect(statSync(join(folder, 'run.jsonl')).mode & 0o777).toBe(0o600);
    await cli(['runs', 'export', id, '--output', 'run.json']);
    expect(await cli(['cassette', 'from-run', 'run.json', '--mask', 'Bob'])).toMatchObject({ code: 0, out: text });
    const asked = llm.requests.length;
    const replay = {
      LLM_PROVIDER: 'openai',
      OPENAI_API_KEY: '',
      LLM_CASSETTE: 'run.jsonl',
      LLM_CASSETTE_MODE: 'replay',
    };
    const { out } = await cli(['chat', '--agent', 'support', 'Write to [redacted] at [emails]'], replay);
    expect(out).toContain('[redacted] has mail at person1@example.com.');
    expect(llm.requests).toHaveLength(asked);
  });

  it('names the mistake of a call, and replaces no file', async () => {
    const id = await ask('Hi');
    writeFileSync(join(folder, 'other.json'), '{"run_id":"x"}');
    writeFileSync(join(folder, 'taken.jsonl'), 'other');
    const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
      [[], 2, /The argument <run> is missing/],
      [['none'], 1, /^There is no run "none"\.$/m],
      [['none.json'], 2, /none\.json cannot be read/],
      [['other.json'], 2, /^other\.json: This is no export of a run/],
      [[id, '--output', 'taken.jsonl'], 2, /taken\.jsonl cannot be written: EEXIST/],
    ];
    for (const [args, code, message] of cases) {
      const end = await cli(['cassette', 'from-run', ...args]);
      expect([args, end.code, end.err]).toEqual([args, code, expect.stringMatching(message)]);
    }
    expect(readFileSync(join(folder, 'taken.jsonl'), 'utf8')).toBe('other');
  });

  it('reads an encrypted run with its key only', async () => {
    const id = await ask('Hi', KEYS);
    expect(await cli(['cassette', 'from-run', id], KEYS)).toMatchObject({
      code: 0,
      out: expect.stringContaining('"Hi"'),
    });
    const { code, out, err } = await cli(['cassette', 'from-run', id]);
    expect([code, out, err]).toEqual([1, '', expect.stringMatching(/ENCRYPTION_KEYS/)]);
  });
});
