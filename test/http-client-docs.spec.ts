import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { buildIfStale } from './support/process.js';
import { SnippetFolder, snippetsOf } from './support/snippets.js';
import { choose, pay, WaitingHost } from './support/waiting-host.js';

const SNIPPETS = snippetsOf('docs/client.md');

describe('the code in docs/client.md', () => {
  let host: WaitingHost;
  let folder: SnippetFolder;
  beforeAll(async () => {
    buildIfStale();
    host = await WaitingHost.start();
    folder = new SnippetFolder();
  });
  beforeEach(() => host.reset());
  afterAll(async () => {
    await host.stop();
    folder.remove();
  });

  /** @returns the lines of the program */
  async function run(index: number): Promise<string[]> {
    const file = await folder.compile(SNIPPETS[index] ?? '');
    const env = { PATH: process.env['PATH'], JACKDAW_URL: host.jackdaw.url };
    const { stdout } = await promisify(execFile)(process.execPath, [file], { env });
    return stdout.trimEnd().split('\n');
  }

  it('consists of four programs', () => {
    expect(SNIPPETS).toHaveLength(4);
  });

  it('chats', async () => {
    host.llm.reply({ text: '42' });
    expect(await run(0)).toEqual(['42 completed']);
  });

  it('streams the text of a run, and its events', async () => {
    host.llm.reply({ calls: [{ name: 'look', arguments: { text: 'up' } }] }, { text: 'It is 42' });
    const lines = await run(1);
    expect(lines).toEqual(expect.arrayContaining(['It is 42', 'look seen up']));
    expect(lines.at(-2)).toMatch(/ completed \d+$/);
  });

  it('decides about the requests that wait', async () => {
    await host.ask(pay('bob'));
    expect(await run(2)).toEqual(['pay the end']);
    await host.ask(choose('Rome'));
    expect(await run(2)).toEqual(['choose the end']);
    expect(host.tools.done).toEqual(['pay bob 5', 'choose Rome KL2']);
  });

  it('reports an error', async () => {
    expect(await run(3)).toEqual([expect.stringMatching(/^404 AGENT_NOT_FOUND .*unknown.* undefined$/)]);
  });
});
