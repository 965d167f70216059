import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawnSync } from 'node:child_process';
import { buildIfStale } from './support/process.js';
import { SnippetFolder, snippetsOf } from './support/snippets.js';

const SNIPPETS = snippetsOf('docs/testing.md');
const NAME = /^it\('(.*)', async/m;

describe('docs/testing.md', () => {
  let folder: SnippetFolder;
  beforeAll(() => {
    buildIfStale();
    folder = new SnippetFolder();
  });
  afterAll(() => folder.remove());

  it('has a test for each task', () => expect(SNIPPETS.length).toBe(8));

  it.each(SNIPPETS.map((code) => [NAME.exec(code)?.[1], code] as const))(
    'has a test that passes: %s',
    async (_name, code) => {
      const { stdout, status } = spawnSync(process.execPath, ['--test', await folder.compile(code)], {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'] },
      });
      expect([status, stdout]).toEqual([0, expect.stringMatching(/pass 1\n/)]);
    },
  );
});
