import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { buildIfStale } from './support/process.js';
import { SnippetFolder, snippetsOf } from './support/snippets.js';

const PAGE = 'docs/a2a.md';

describe('the code in docs/a2a.md, with the offline model', () => {
  let jackdaw: Jackdaw;
  let snippets: SnippetFolder;
  const folder = newFolder();
  beforeAll(async () => {
    buildIfStale();
    const [, declared = ''] = /^```json\n(.*?)^```$/ms.exec(readFileSync(PAGE, 'utf8')) ?? [];
    const path = join(folder, 'a2a-agents.json');
    writeFileSync(path, declared);
    jackdaw = await startJackdaw({ env: { A2A_AGENTS_FILE: path, BILLING_KEY: 'a-key' } });
    snippets = new SnippetFolder();
  });
  afterAll(async () => {
    await jackdaw.stop();
    snippets.remove();
    rmSync(folder, { recursive: true });
  });

  it('sends a message', async () => {
    const [code = '', ...others] = snippetsOf(PAGE);
    const env = { PATH: process.env['PATH'], JACKDAW_URL: jackdaw.url };
    const { stdout } = await promisify(execFile)(process.execPath, [await snippets.compile(code)], { env });
    expect(stdout).toContain('42');
    expect(others).toEqual([]);
  });

  it('declares an agent', async () => {
    const { body } = await jackdaw.get('/api/tools');
    expect(JSON.stringify(body)).toContain('ask_billing');
  });
});
