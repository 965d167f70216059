import { afterAll, expect, it } from 'vitest';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DefinitionFolder } from './files/definition-folder.explorer.js';
import { isSameReading, readFolderDrafts } from './folder-draft.loader.js';

const path = mkdtempSync(join(tmpdir(), 'jackdaw-drafts-'));
afterAll(() => rmSync(path, { recursive: true }));

it('lists files with unsupported extensions, except included files and files that cannot define an agent by name', async () => {
  const write = (name: string, text = '') => writeFileSync(join(path, name), text);
  write('a.JSON', JSON.stringify({ name: 'a', instructions: { src: './a.txt' } }));
  for (const name of ['a.txt', 'b.yml', 'b.txt', 'B', 'README.md', 'Readme', 'LICENSE', 'agent.xsd']) write(name);
  for (const name of ['.b.yml', 'b.yml~', '#b.yml#', 'b.json.bak', 'b.yml.swp', 'b.tmp', 'b.orig']) write(name);
  mkdirSync(join(path, 'prompts'));
  const folder = new DefinitionFolder(path);
  const found = (await readFolderDrafts(folder, {}))!;
  expect([...found.reading.files.keys(), found.reading.unread]).toEqual(['a.JSON', ['B', 'b.txt', 'b.yml']]);
  expect(isSameReading((await readFolderDrafts(folder, {}))!.reading, found.reading)).toBe(true);
  write('c.toml');
  expect(isSameReading((await readFolderDrafts(folder, {}))!.reading, found.reading)).toBe(false);
});
