import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildIfStale, killAll, ServerProcess } from './support/process.js';

let folder: string;
let dataDir: string;
beforeAll(() => buildIfStale());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-compile-'));
  dataDir = join(folder, 'data');
});
afterEach(async () => {
  await killAll();
  rmSync(folder, { recursive: true, force: true });
});

/** The compiled files with their times. */
function stored(): Record<string, number> {
  const cache = join(dataDir, 'compile-cache');
  const names = existsSync(cache) ? readdirSync(cache, { recursive: true, encoding: 'utf8' }) : [];
  return Object.fromEntries(names.map((name) => [name, statSync(join(cache, name)).mtimeMs]));
}

/** Starts and stops the server. @returns the compiled files after that */
async function compiled(env: Record<string, string> = {}): Promise<Record<string, number>> {
  const server = ServerProcess.start('dist/main.js', {
    DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'info',
    LLM_PROVIDER: 'offline',
    // Of the tests, which share compiled code.
    NODE_COMPILE_CACHE: '',
    ...env,
  });
  await server.waitForOutput(/Jackdaw serves http/);
  expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  return stored();
}

it('stores compiled code beside the database file, and the next start uses it', async () => {
  // Without a database the folder may be that of a container.
  mkdirSync(dataDir);
  expect(await compiled()).toEqual({});
  const second = await compiled();
  expect(Object.keys(second).length).toBeGreaterThan(1000);
  const third = await compiled();
  const unchanged = Object.keys(second).filter((name) => third[name] === second[name]);
  expect(unchanged.length).toBeGreaterThan(0.9 * Object.keys(second).length);
});

it('stores none with NODE_DISABLE_COMPILE_CACHE', async () => {
  for (let start = 0; start < 2; start++) expect(await compiled({ NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual({});
});
