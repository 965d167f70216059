import { beforeAll, describe, expect, it } from 'vitest';
import { gzipSync } from 'node:zlib';
import { readdirSync, readFileSync } from 'node:fs';
import { buildIfStale } from './support/process.js';

const FOLDER = 'dist/console/app/';
const KB = 1_024;

/** Bytes after gzip. */
function sizeOf(names: Iterable<string>): number {
  return [...names].reduce((sum, name) => sum + gzipSync(readFileSync(FOLDER + name), { level: 9 }).length, 0);
}

/** A script, and those that the browser loads with it. */
function loadedWith(name: string, found = new Set<string>()): ReadonlySet<string> {
  found.add(name);
  for (const [, next] of readFileSync(FOLDER + name, 'utf8').matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g)) {
    if (!found.has(next!)) loadedWith(next!, found);
  }
  return found;
}

describe('the size of the console', () => {
  let names: string[];
  beforeAll(() => {
    buildIfStale();
    names = readdirSync(FOLDER);
  });

  it('is at most 60 KB of script and 12 KB of styles for the first page', () => {
    const [entry] = /main-\w+\.js/.exec(readFileSync(`${FOLDER}index.html`, 'utf8'))!;
    const files = loadedWith(entry);
    expect(files.size).toBeGreaterThan(1);
    expect(sizeOf(files)).toBeLessThanOrEqual(60 * KB);
    expect(sizeOf(names.filter((name) => name.endsWith('.css')))).toBeLessThanOrEqual(12 * KB);
  });

  it('is at most 30 KB for each script, and 250 KB for all', () => {
    const scripts = names.filter((name) => name.endsWith('.js'));
    for (const name of scripts) expect([name, sizeOf([name]) <= 30 * KB]).toEqual([name, true]);
    expect(sizeOf(scripts)).toBeLessThanOrEqual(250 * KB);
  });
});
