import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRequire } from 'node:module';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase, type OpenDatabase } from '../../test/support/run-host.js';
import { toOpenFailure } from './open-failure.error.js';
import type { SqliteHandle } from './sqlite-handle.js';

let folder: string;
const opened: OpenDatabase[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-file-'));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
  rmSync(folder, { recursive: true });
});

async function open(dataDir: string): Promise<OpenDatabase> {
  const one = await openDatabase({ DATA_DIR: dataDir });
  opened.push(one);
  return one;
}

const rightsOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('the data folder and its files', () => {
  it('are private to this user when Jackdaw creates them', async () => {
    const data = join(folder, 'new', 'data');
    const { database } = await open(data);
    await database.commit([
      database.insertIgnore('run_definition', { tenant: 't', hash: 'h', content: '{}', created_at: 1 }),
    ]);
    const names = ['', 'jackdaw.db', 'jackdaw.db.lock', 'jackdaw.db-wal', 'jackdaw.db-shm'];
    expect(names.map((name) => [name, rightsOf(join(data, name))])).toEqual([
      ['', '700'],
      ...names.slice(1).map((name) => [name, '600']),
    ]);
  });

  it('keep existing permissions', async () => {
    chmodSync(folder, 0o750);
    writeFileSync(join(folder, 'jackdaw.db'), '');
    chmodSync(join(folder, 'jackdaw.db'), 0o640);
    await open(folder);
    expect([rightsOf(folder), rightsOf(join(folder, 'jackdaw.db'))]).toEqual(['750', '640']);
  });

  it('have one lock under all their names', async () => {
    mkdirSync(join(folder, 'real'));
    symlinkSync(join(folder, 'real'), join(folder, 'link'));
    await open(join(folder, 'real'));
    await expect(open(join(folder, 'link'))).rejects.toMatchObject({ code: 'DATABASE_LOCKED' });
    symlinkSync(join(folder, 'real', 'jackdaw.db'), join(folder, 'jackdaw.db'));
    await expect(open(folder)).rejects.toMatchObject({ code: 'DATABASE_LOCKED' });
  });
});

describe('a database that cannot be opened', () => {
  it.each<[string, string, RegExp]>([
    ['is below a file', join('file', 'data'), /a part of its path is a file/],
    ['has a file for a folder', 'file', /a part of its path is a file/],
    ['is not a database', 'text', /not a SQLite database/],
    ['is damaged', 'damaged', /damaged: restore it from a backup/],
  ])('is reported in one line with path and remedy when it %s', async (_what, data, reason) => {
    writeFileSync(join(folder, 'file'), '');
    mkdirSync(join(folder, 'text'));
    writeFileSync(join(folder, 'text', 'jackdaw.db'), 'This is a text. '.repeat(500));
    if (data === 'damaged') await damage(join(folder, data));
    const refused = await open(join(folder, data)).catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: 'AppError', code: 'CONFIG_INVALID', message: expect.stringMatching(reason) });
    expect((refused as Error).message).toContain(join(folder, data, 'jackdaw.db'));
    expect((refused as Error).message).not.toContain('\n');
  });

  it('is reported as locked only when another process writes to it', async () => {
    await (await open(folder)).database.ping();
    await opened.pop()!.close();
    const other = new (createRequire(import.meta.url)('better-sqlite3-v13') as new (path: string) => SqliteHandle)(
      join(folder, 'jackdaw.db'),
    );
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    await expect(open(folder)).rejects.toMatchObject({ code: 'DATABASE_LOCKED' });
    other.close();
    await open(folder);
  });

  it.each([
    ['EACCES', 'this user may not write there'],
    ['EROFS', 'read-only'],
    ['ENOSPC', 'the disk is full'],
    ['SQLITE_READONLY_DIRECTORY', 'read-only'],
    ['SQLITE_IOERR_SHMMAP', 'said SQLite'],
    ['EMFILE', 'said SQLite'],
  ])('is reported with the reason for %s', (code, reason) => {
    const error = toOpenFailure('/x/y.db', Object.assign(new Error('said SQLite'), { code }));
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(reason) });
  });

  it('keeps an unrelated error unchanged', () => {
    for (const error of [new Error('bug'), Object.assign(new Error('no such column'), { code: 'SQLITE_ERROR' }), null])
      expect(toOpenFailure('/x/y.db', error)).toBe(error);
  });
});

/** Overwrites all pages of a database except its header. */
async function damage(dataDir: string): Promise<void> {
  await open(dataDir);
  await opened.pop()!.close();
  const file = join(dataDir, 'jackdaw.db');
  const bytes = readFileSync(file).fill(0xff, 100);
  writeFileSync(file, bytes);
}
