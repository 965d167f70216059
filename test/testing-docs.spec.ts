import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

  it('has tests that pass', async () => {
    const names = SNIPPETS.map((code) => NAME.exec(code)?.[1] ?? '');
    expect((await folder.passedTests(SNIPPETS)).toSorted()).toEqual(names.toSorted());
  });
});
