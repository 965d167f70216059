import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FakeLlm } from './support/fake-llm.js';
import { buildIfStale } from './support/process.js';
import { SnippetFolder, snippetsOf } from './support/snippets.js';

const SNIPPETS = snippetsOf('docs/library.md');

describe('the code in docs/library.md', () => {
  let llm: FakeLlm;
  let folder: SnippetFolder;
  beforeAll(async () => {
    buildIfStale();
    llm = await FakeLlm.start();
    folder = new SnippetFolder();
  });
  beforeEach(() => llm.reset());
  afterAll(async () => {
    await llm.close();
    folder.remove();
  });

  /** @returns the program's output */
  async function run(index: number, more: Record<string, string> = {}): Promise<{ stdout: string; stderr: string }> {
    const file = await folder.compile(SNIPPETS[index] ?? '');
    const env = {
      PATH: process.env['PATH'],
      JACKDAW_DATA_DIR: join(folder.path, `data-${index}`),
      ...llm.env,
      ...more,
    };
    return promisify(execFile)(process.execPath, [file], { env });
  }

  it('consists of six programs', () => {
    expect(SNIPPETS).toHaveLength(6);
  });

  it('calls an agent with and without a stream', async () => {
    llm.reply({ text: 'Two orders.' }, { text: 'Since Monday.' });
    expect((await run(0)).stdout).toContain('Since Monday.');
    expect(llm.requests.map(({ model }) => model)).toEqual(['gpt-4o', 'gpt-4o']);
    expect(String(llm.lastRequest.messages[0]?.content)).toContain('You help with orders.');
  });

  it('creates an agent from XML and receives its run events', async () => {
    llm.reply({ calls: [{ name: 'calculator', arguments: { expression: '6 * 7' } }] }, { text: '42' });
    const { stdout, stderr } = await run(1);
    expect([stdout, stderr]).toEqual([
      expect.stringMatching(/^42$/m),
      expect.stringContaining('researcher called calculator'),
    ]);
    expect(llm.lastRequest.model).toBe('gpt-4o');
  });

  it('reads the answer of a run whose text stream ended early', async () => {
    llm.reply({ text: 'Two orders', cutAfter: 2 }, { text: 'Three orders.' });
    const lines = (await run(2, { LLM_MAX_ATTEMPTS: '2' })).stdout.split('\n');
    expect(lines.slice(-3)).toEqual([expect.stringMatching(/Two$/), '(The answer changed:)', 'Three orders.']);
  });

  it('leaves a stream whose run continues', async () => {
    llm.reply({ text: 'Once upon a time there was a bird that used tools.' });
    const { stdout, stderr } = await run(3);
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^Once/m), '']);
  });

  it('runs an agent in a host application', async () => {
    llm.reply({ calls: [{ name: 'count', arguments: { input: 'lamps' } }] }, { text: 'Seven.' });
    expect((await run(4)).stdout).toContain('Seven.');
    expect(llm.lastRequest.messages.at(-1)).toMatchObject({ role: 'tool', content: '7 of lamps' });
  });
});
