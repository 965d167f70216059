import { beforeAll, describe, expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { newFolder } from './support/jackdaw.js';
import { buildIfStale } from './support/process.js';

interface Differences {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

const NONE: Differences = { added: [], changed: [], removed: [] };
const TSLIB = Object.keys(createRequire(import.meta.url)('tslib') as object);

/** Globals of the packages that Nest and Jackdaw use: reflect-metadata, tslib and zod. */
const LISTED: readonly RegExp[] = [
  /^Reflect\.(?:decorate|metadata|\w+Metadata|\w+MetadataKeys|Symbol\(@reflect-metadata:registry\))$/,
  new RegExp(`^globalThis\\.(?:${TSLIB.join('|')})$`),
  /^globalThis\.__zod_global(?:Config|Registry)$/,
];

describe('the process of a host application', () => {
  let found: Record<'imported' | 'started' | 'closed', Differences>;
  let lines: readonly string[];

  beforeAll(async () => {
    buildIfStale();
    const folder = newFolder();
    const env = { PATH: process.env['PATH'], JACKDAW_DATA_DIR: folder };
    const { stdout } = await promisify(execFile)(process.execPath, ['test/support/process-state.mjs'], { env });
    rmSync(folder, { recursive: true });
    lines = stdout.split('\n').filter((line) => line !== '');
    found = JSON.parse(lines.at(-1)!) as typeof found;
  });

  it('has only listed globals more after the import, and every built-in as before', () => {
    const { added, ...others } = found.imported;
    expect(added.filter((name) => !LISTED.some((one) => one.test(name)))).toEqual([]);
    expect(others).toEqual({ changed: [], removed: [] });
  });

  it('has one listener more while MCP programs run, which ends them at the exit', () => {
    expect(found.started).toEqual({ ...NONE, added: ['process.on(exit)'] });
  });

  it('prints the log lines of the host, which uses the default logger, and none of Jackdaw', () => {
    // The warning of a slow disk depends on the machine.
    const others = lines.slice(0, -1).filter((line) => !line.includes('ms to make a write durable'));
    expect(others).toEqual([expect.stringContaining('A line of the host')]);
  });

  it('has the same globals, variables, listeners, dispatcher and logger after the close as before the start', () => {
    expect(found.closed).toEqual(NONE);
  });
});
