import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { closeSync, copyFileSync, fdatasync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SqliteDatabase } from './sqlite-database.js';
import { loadSqliteDriver } from './sqlite-driver.loader.js';
import type { SqliteHandle } from './sqlite-handle.types.js';
import { SqliteLog, syncerOf } from './sqlite-log.client.js';
import { insert } from './statement.factory.js';

let folder: string;
let handle: SqliteHandle;
/** Who waits for the disk. */
let waiting: ((error: Error | null) => void)[];
let database: SqliteDatabase;

function open(name: string, mode = 'WAL'): SqliteHandle {
  const Sqlite = loadSqliteDriver();
  const opened = new Sqlite(join(folder, name), { timeout: 0 });
  opened.pragma(`journal_mode = ${mode}`);
  opened.pragma('synchronous = FULL');
  opened.exec('CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY)');
  return opened;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-log-'));
  handle = open('a.db');
  waiting = [];
  const disk = (_file: number, done: (error: Error | null) => void) => void waiting.push(done);
  database = new SqliteDatabase(handle, SqliteLog.of(handle, disk));
});
afterEach(async () => {
  if (!folder) return;
  handle.close();
  rmSync(folder, { recursive: true });
});

const add = (id: number, isEarly = false) => database.commit([insert('item', { id })], { isEarly });

function ids(of = handle): number[] {
  return (of.prepare('SELECT id FROM item ORDER BY id').all() as { id: number }[]).map(({ id }) => id);
}

/** How something stands, when everything has happened that can. */
async function standing(promise: Promise<unknown>): Promise<string> {
  let state = 'waits';
  promise.then(
    () => (state = 'done'),
    (error: { code?: string }) => (state = error.code ?? 'failed'),
  );
  for (let turn = 0; turn < 12; turn++) await nextTurn();
  return state;
}

function diskHasIt(error: Error | null = null): void {
  waiting.shift()!(error);
}

describe('a batch in a file', () => {
  it('resolves when the disk has it; until then the event loop goes on', async () => {
    const added = add(1);
    expect(await standing(added)).toBe('waits');
    expect(ids()).toEqual([1]);
    diskHasIt();
    expect(await standing(added)).toBe('done');
  });

  it('is told by a query when the disk has it', async () => {
    const added = add(1);
    expect(await standing(added)).toBe('waits');
    const found = database.query('SELECT id FROM item');
    expect(await standing(found)).toBe('waits');
    diskHasIt();
    expect(await found).toEqual([{ id: 1 }]);
  });

  it('waits for the one that the disk is at, and shares the next wait', async () => {
    const first = add(1);
    await standing(first);
    const others = [add(2), add(3), add(1)];
    expect(await standing(Promise.any(others))).toBe('waits');
    expect([ids(), waiting.length]).toEqual([[1], 1]);
    diskHasIt();
    await first;
    expect(await standing(others[0]!)).toBe('waits');
    expect([ids(), waiting.length]).toEqual([[1, 2, 3], 1]);
    diskHasIt();
    expect(await Promise.all(others.map(standing))).toEqual(['done', 'done', 'COMMIT_REFUSED']);
  });

  it('is the only thing that is durable later than it is there: a statement of its own is when it returns', async () => {
    const durable = () => handle.pragma('synchronous');
    const added = add(1);
    await standing(added);
    expect(durable()).toEqual([{ synchronous: 2 }]);
    diskHasIt();
    await added;
    expect(await standing(add(1))).toBe('COMMIT_REFUSED');
    expect([durable(), waiting.length]).toEqual([[{ synchronous: 2 }], 0]);
  });

  it('is in the file and its log by then, for whoever comes after a crash', async () => {
    const [real, copy] = [join(folder, 'a.db'), join(folder, 'b.db')];
    const own = new SqliteDatabase(handle);
    await own.commit([insert('item', { id: 1 })]);
    await own.commit([insert('item', { id: 2 })]);
    for (const end of ['', '-wal']) copyFileSync(real + end, copy + end);
    const after = open('b.db');
    expect(ids(after)).toEqual([1, 2]);
    after.close();
    await own.close();
  });

  it('that is content with being written is there for the next process before the disk has it', async () => {
    const [patient, early] = [add(1), add(2, true)];
    expect(await Promise.all([patient, early].map(standing))).toEqual(['waits', 'done']);
    expect([ids(), waiting.length]).toEqual([[1, 2], 1]);
    diskHasIt();
    await patient;
  });

  it('that is content with being written is refused like any other, and makes none behind it durable', async () => {
    await standing(add(1, true));
    const others = [add(1, true), add(2)];
    expect(await Promise.all(others.map(standing))).toEqual(['waits', 'waits']);
    diskHasIt();
    expect(await Promise.all(others.map(standing))).toEqual(['COMMIT_REFUSED', 'waits']);
    diskHasIt();
    expect(await standing(others[1]!)).toBe('done');
  });

  it('is waited for when the database is closed, and what waits behind it too', async () => {
    const commits = [add(1)];
    await standing(commits[0]!);
    commits.push(add(2));
    const closed = database.close();
    expect(await standing(closed)).toBe('waits');
    diskHasIt();
    expect(await standing(closed)).toBe('waits');
    diskHasIt();
    await Promise.all([...commits, closed]);
    expect(ids()).toEqual([1, 2]);
  });
});

describe('a disk that fails', () => {
  it('fails what it was at, and nothing is written any more: nobody knows what it has', async () => {
    const added = add(1);
    await standing(added);
    const [later, found] = [add(2), database.query('SELECT id FROM item')];
    diskHasIt(new Error('EIO: i/o error, fdatasync'));
    await expect(found).rejects.toThrow('EIO');
    const all = [added, later, add(3), database.ping(), database.query('SELECT id FROM item')];
    expect(await Promise.all(all.map(standing))).toEqual(Array(5).fill('JOURNAL_UNAVAILABLE'));
    await expect(added).rejects.toThrow(/a\.db \(EIO.*look after the disk, then restart/);
    expect([ids(), waiting.length]).toEqual([[1], 0]);
    await database.close();
  });

  it('fails all that comes after a batch that was content with being written', async () => {
    expect(await standing(add(1, true))).toBe('done');
    const later = add(2);
    diskHasIt(new Error('EIO: i/o error, fdatasync'));
    expect(await Promise.all([later, add(3, true)].map(standing))).toEqual(Array(2).fill('JOURNAL_UNAVAILABLE'));
    await database.close();
  });
});

describe('a disk that is quicker than the way to another thread', () => {
  it('is waited for in place, and its failure is told', async () => {
    const [quick, slow] = [syncerOf(0.02), syncerOf(0.3)];
    let isSynced = false;
    const file = openSync(join(folder, 'a.db'), 'r+');
    quick(file, () => (isSynced = true));
    closeSync(file);
    expect(isSynced).toBe(true);
    expect(slow).toBe(fdatasync);
    const log = SqliteLog.of(handle, quick)!;
    const own = new SqliteDatabase(handle, log);
    await own.commit([insert('item', { id: 1 })]);
    log.close();
    const failed = own.commit([insert('item', { id: 2 })]);
    await expect(failed).rejects.toMatchObject({
      code: 'JOURNAL_UNAVAILABLE',
      message: expect.stringContaining('EBADF'),
    });
  });
});

describe('a file without such a log', () => {
  it.each(['DELETE', 'TRUNCATE'])('is written as SQLite does: journal_mode %s', async (mode) => {
    const other = open('other.db', mode);
    expect(SqliteLog.of(other)).toBeNull();
    const plain = new SqliteDatabase(other);
    await plain.commit([insert('item', { id: 1 })]);
    await plain.close();
    expect(ids(other)).toEqual([1]);
    other.close();
  });
});
