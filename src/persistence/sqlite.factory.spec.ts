import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase, type OpenDatabase } from '../../test/support/run-host.js';
import { loadConfig } from '../config/index.js';
import { sqliteFile } from './sqlite.factory.js';
import { lockSqliteFile } from './sqlite-lock.factory.js';

let folder: string;
const opened: OpenDatabase[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-data-'));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
  rmSync(folder, { recursive: true });
});

async function open(): Promise<OpenDatabase> {
  const one = await openDatabase({ DATA_DIR: folder });
  opened.push(one);
  return one;
}

describe('the schema', () => {
  it('that the migrations make is the one that the entities describe', async () => {
    const { dataSource } = await open();
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    // Facts have a row number of their own on SQLite, for the full-text search; database-start.spec compares the rest.
    expect(upQueries.map(({ query }) => query).filter((query) => !/"(temporary_)?fact/.test(query))).toEqual([]);
    expect(dataSource.entityMetadatas.length).toBeGreaterThan(5);
  });

  it('is there once, however often it is opened, and keeps what is in it', async () => {
    const first = await open();
    await first.database.commit([
      first.database.insertIgnore('run_definition', { tenant: 't', hash: 'h', content: '{}', created_at: 1 }),
    ]);
    await opened.pop()!.close();
    const { database, dataSource } = await open();
    expect(await database.query('SELECT content FROM run_definition')).toEqual([{ content: '{}' }]);
    expect(await dataSource.showMigrations()).toBe(false);
  });

  it('goes away with the migrations undone', async () => {
    const { database, dataSource } = await open();
    for (const _ of dataSource.migrations) await dataSource.undoLastMigration();
    const left = await database.query<{ name: string }>(
      `SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'`,
    );
    expect(left.map(({ name }) => name)).toEqual(['migrations']);
  });

  it('has the tenant in every table but that of the processes and that of counters, whose id is a hash of it', async () => {
    const { dataSource } = await open();
    const without = dataSource.entityMetadatas.filter(
      ({ columns }) => !columns.some(({ databaseName }) => databaseName === 'tenant'),
    );
    expect(without.map(({ tableName }) => tableName).toSorted()).toEqual(['call_rate', 'run_node']);
  });

  it('is on a disk that is asked to make every commit durable', async () => {
    const { database } = await open();
    expect(await database.query('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }]);
    expect(await database.query('PRAGMA synchronous')).toEqual([{ synchronous: 2 }]);
  });
});

describe('a second opening', () => {
  it('is refused until the first is closed', async () => {
    await open();
    await expect(open()).rejects.toMatchObject({
      code: 'DATABASE_LOCKED',
      message: expect.stringContaining(join(folder, 'jackdaw.db')),
    });
    await opened.pop()!.close();
    await open();
  });

  it('is possible after a failed one has given the lock back', async () => {
    mkdirSync(join(folder, 'jackdaw.db'));
    await expect(open()).rejects.toThrow('it is a folder');
    rmdirSync(join(folder, 'jackdaw.db'));
    await open();
  });

  it('from another process is refused while that lives, also when it is killed without a word', async () => {
    const file = join(folder, 'jackdaw.db');
    const script = `const Sqlite = require('better-sqlite3');
      new Sqlite(process.argv[1] + '.lock').exec('BEGIN EXCLUSIVE');
      console.log('locked');
      setInterval(() => undefined, 1000);`;
    const child = spawn(process.execPath, ['-e', script, file], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(child.stdout, 'data');
      await expect(open()).rejects.toMatchObject({ code: 'DATABASE_LOCKED' });
    } finally {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    await open();
  });

  it('of memory is another database', async () => {
    const [one, other] = await Promise.all([openDatabase(), openDatabase()]);
    opened.push(one, other);
    expect(one.dataSource).not.toBe(other.dataSource);
  });
});

describe('the lock', () => {
  it('leaves the database itself open to readers', async () => {
    const unlock = lockSqliteFile(join(folder, 'x.db'));
    expect(() => lockSqliteFile(join(folder, 'x.db'))).toThrow('belongs to another running Jackdaw');
    unlock();
    lockSqliteFile(join(folder, 'x.db'))();
  });
});

describe('the file', () => {
  it.each([
    [{}, './data/jackdaw.db'],
    [{ DATA_DIR: '/var/nest' }, '/var/nest/jackdaw.db'],
    [{ DATABASE_URL: 'sqlite:/var/nest/x.db' }, '/var/nest/x.db'],
    [{ DATABASE_URL: 'sqlite:///var/nest/x.db' }, '/var/nest/x.db'],
    [{ DATABASE_URL: 'sqlite:./x.db' }, './x.db'],
    [{ DATABASE_URL: 'sqlite://./x.db' }, './x.db'],
    [{ DATABASE_URL: 'sqlite::memory:' }, ':memory:'],
  ])('of %j is %s', (env, file) => {
    expect(join(sqliteFile(loadConfig({ env }).config))).toBe(join(file));
  });
});
