import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { buildIfStale } from './support/process.js';
import { SnippetFolder, snippetsOf } from './support/snippets.js';

const SNIPPETS = snippetsOf('docs/openai-clients.md');

describe('the code in docs/openai-clients.md, with the offline model', () => {
  let jackdaw: Jackdaw;
  let folder: SnippetFolder;
  beforeAll(async () => {
    buildIfStale();
    jackdaw = await startJackdaw();
    folder = new SnippetFolder();
  });
  afterAll(async () => {
    await jackdaw.stop();
    folder.remove();
  });

  async function run(index: number): Promise<string> {
    const file = await folder.compile(SNIPPETS[index] ?? '');
    const env = { PATH: process.env['PATH'], JACKDAW_V1: `${jackdaw.url}/v1` };
    return (await promisify(execFile)(process.execPath, [file], { env })).stdout;
  }

  it('chats', async () => {
    expect(await run(0)).toContain('42');
  });

  it('returns the result of a tool of the client', async () => {
    expect(await run(1)).toContain('rain');
    expect(SNIPPETS).toHaveLength(2);
  });
});
