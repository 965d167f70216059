import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeSync, copyFileSync, fdatasync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SqliteDatabase } from './sqlite-database.js';
import { loadSqliteDriver, type SqliteHandle } from './sqlite-handle.js';
import { SqliteLog, syncerOf } from './sqlite-log.client.js';
import { insert } from './statement/statement.factory.js';

let folder: string;
let handle: SqliteHandle;
/** Pending fsync callbacks. */
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

/** The state of a promise after all possible progress. */
async function stateOf(promise: Promise<unknown>): Promise<string> {
  let state = 'waits';
  promise.then(
    () => (state = 'done'),
    (error: { code?: string }) => (state = error.code ?? 'failed'),
  );
  for (let turn = 0; turn < 12; turn++) await nextTurn();
  return state;
}

function completeSync(error: Error | null = null): void {
  waiting.shift()!(error);
}

describe('a batch in a file', () => {
  it('resolves when it is durable; until then the event loop continues', async () => {
    const added = add(1);
    expect(await stateOf(added)).toBe('waits');
    expect(ids()).toEqual([1]);
    completeSync();
    expect(await stateOf(added)).toBe('done');
  });

  it('is returned by a query when it is durable', async () => {
    const added = add(1);
    expect(await stateOf(added)).toBe('waits');
    const found = database.query('SELECT id FROM item');
    expect(await stateOf(found)).toBe('waits');
    completeSync();
    expect(await found).toEqual([{ id: 1 }]);
  });

  it('waits for the running fsync, and shares the next one', async () => {
    const first = add(1);
    await stateOf(first);
    const others = [add(2), add(3), add(1)];
    expect(await stateOf(Promise.any(others))).toBe('waits');
    expect([ids(), waiting.length]).toEqual([[1], 1]);
    completeSync();
    await first;
    expect(await stateOf(others[0]!)).toBe('waits');
    expect([ids(), waiting.length]).toEqual([[1, 2, 3], 1]);
    completeSync();
    expect(await Promise.all(others.map(stateOf))).toEqual(['done', 'done', 'COMMIT_REFUSED']);
  });

  it('is durable after it is applied, unlike a single statement, which is durable on return', async () => {
    const durable = () => handle.pragma('synchronous');
    const added = add(1);
    await stateOf(added);
    expect(durable()).toEqual([{ synchronous: 2 }]);
    completeSync();
    await added;
    expect(await stateOf(add(1))).toBe('COMMIT_REFUSED');
    expect([durable(), waiting.length]).toEqual([[{ synchronous: 2 }], 0]);
  });

  it('is in the file and its log by then, for a restart after a crash', async () => {
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

  it('with isEarly is visible to the next process before it is durable', async () => {
    const [late, early] = [add(1), add(2, true)];
    expect(await Promise.all([late, early].map(stateOf))).toEqual(['waits', 'done']);
    expect([ids(), waiting.length]).toEqual([[1, 2], 1]);
    completeSync();
    await late;
  });

  it('with isEarly is refused like any other, and makes no later batch durable', async () => {
    await stateOf(add(1, true));
    const others = [add(1, true), add(2)];
    expect(await Promise.all(others.map(stateOf))).toEqual(['waits', 'waits']);
    completeSync();
    expect(await Promise.all(others.map(stateOf))).toEqual(['COMMIT_REFUSED', 'waits']);
    completeSync();
    expect(await stateOf(others[1]!)).toBe('done');
  });

  it('is completed when the database is closed, and so are batches behind it', async () => {
    const commits = [add(1)];
    await stateOf(commits[0]!);
    commits.push(add(2));
    const closed = database.close();
    expect(await stateOf(closed)).toBe('waits');
    completeSync();
    expect(await stateOf(closed)).toBe('waits');
    completeSync();
    await Promise.all([...commits, closed]);
    expect(ids()).toEqual([1, 2]);
  });
});

describe('a disk that fails', () => {
  it('rejects pending batches and all later calls, as durability is unknown', async () => {
    const added = add(1);
    await stateOf(added);
    const [later, found] = [add(2), database.query('SELECT id FROM item')];
    completeSync(new Error('EIO: i/o error, fdatasync'));
    await expect(found).rejects.toThrow('EIO');
    const all = [added, later, add(3), database.ping(), database.query('SELECT id FROM item')];
    expect(await Promise.all(all.map(stateOf))).toEqual(Array(5).fill('JOURNAL_UNAVAILABLE'));
    await expect(added).rejects.toThrow(/a\.db durable \(EIO.*check the disk, then restart/);
    expect([ids(), waiting.length]).toEqual([[1], 0]);
    await database.close();
  });

  it('rejects all calls after a batch with isEarly', async () => {
    expect(await stateOf(add(1, true))).toBe('done');
    const later = add(2);
    completeSync(new Error('EIO: i/o error, fdatasync'));
    expect(await Promise.all([later, add(3, true)].map(stateOf))).toEqual(Array(2).fill('JOURNAL_UNAVAILABLE'));
    await database.close();
  });
});

describe('a disk that is faster than a thread switch', () => {
  it('is synced in place, and its failure is reported', async () => {
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
  it.each(['DELETE', 'TRUNCATE'])('is written as SQLite does with journal_mode %s', async (mode) => {
    const other = open('other.db', mode);
    expect(SqliteLog.of(other)).toBeNull();
    const plain = new SqliteDatabase(other);
    await plain.commit([insert('item', { id: 1 })]);
    await plain.close();
    expect(ids(other)).toEqual([1]);
    other.close();
  });
});
