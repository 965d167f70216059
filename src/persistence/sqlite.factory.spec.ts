import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase, type OpenDatabase } from '../../test/support/run-host.js';
import { loadConfig } from '../config/index.js';
import { loadSqliteDriver } from './sqlite-handle.js';
import { sqliteFile } from './sqlite-place.js';
import { lockFile, ownSqliteFile } from './sqlite-lock.factory.js';
import { insert } from './statement/statement.factory.js';

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

function writeForeign(): void {
  const database = new (loadSqliteDriver())(join(folder, 'jackdaw.db'), { timeout: 0 });
  database.exec('CREATE TABLE run (id INTEGER)');
  database.close();
}

/** The files of the folder that this process has open; none without /proc. */
function openFiles(): string[] {
  if (!existsSync('/proc/self/fd')) return [];
  const links = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      return '';
    }
  });
  return links.filter((path) => path.startsWith(folder)).toSorted();
}

describe('a new file', () => {
  it('stores a turn of 1 KB without a page of its own', async () => {
    const { database } = await open();
    const pages = async () =>
      (await database.query<{ n: number }>('SELECT page_count AS n FROM pragma_page_count()'))[0]!.n;
    const turn = (n: number) =>
      insert('run_event', { run_id: 'r', n, tenant: 't', type: 'x', data: 'x'.repeat(1000), created_at: n });
    await database.commit([turn(1)]);
    const before = await pages();
    await database.commit(Array.from({ length: 70 }, (_, n) => turn(n + 2)));
    // Seven rows a page.
    expect((await pages()) - before).toBeLessThanOrEqual(12);
  });
});

describe('the schema', () => {
  it('is created once and keeps its data when it is opened again', async () => {
    const first = await open();
    await first.database.commit([
      first.database.insertIgnore('run_definition', { tenant: 't', hash: 'h', content: '{}', created_at: 1 }),
    ]);
    await opened.pop()!.close();
    const { database, dataSource } = await open();
    expect(await database.query('SELECT content FROM run_definition')).toEqual([{ content: '{}' }]);
    expect(await dataSource.showMigrations()).toBe(false);
  });

  it('is removed by undoing the migrations', async () => {
    const { database, dataSource } = await open();
    for (const _ of dataSource.migrations) await dataSource.undoLastMigration();
    const left = await database.query<{ name: string }>(
      `SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'`,
    );
    expect(left.map(({ name }) => name)).toEqual(['jackdaw_migration', 'jackdaw_property']);
  });

  it('has the tenant in every table except those of processes, signing keys, the probe, and counters, whose id is a hash of the tenant', async () => {
    const { database } = await open();
    const tables = await database.query<{ name: string }>(
      `SELECT name FROM sqlite_schema AS made WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'jackdaw_%'
        AND name NOT LIKE 'fact_terms%' AND NOT EXISTS (SELECT 1 FROM pragma_table_info(made.name) WHERE name = 'tenant')
        ORDER BY name`,
    );
    expect(tables.map(({ name }) => name)).toEqual(['call_rate', 'run_node', 'signing_key', 'storage_probe']);
  });

  it('makes every commit durable', async () => {
    const { database } = await open();
    expect(await database.query('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }]);
    expect(await database.query('PRAGMA synchronous')).toEqual([{ synchronous: 2 }]);
    expect(await database.query('PRAGMA secure_delete')).toEqual([{ secure_delete: 1 }]);
  });

  it('has no deleted data in its files after a purge', async () => {
    const { database } = await open();
    // Rows of many sizes, so that pages are split, merged and moved.
    const row = (n: number, word: string) => ({
      tenant: `${(n * 7) % 13}`,
      hash: `${word}-${n}`,
      content: word.repeat(1 + ((n * 37) % (n % 9 === 0 ? 3000 : 60))),
      created_at: n,
    });
    const words = Array.from({ length: 1500 }, (_, n) => (n % 3 === 0 ? 'kingfisher' : 'woodpecker'));
    await Promise.all(words.map((word, n) => database.commit([insert('run_definition', row(n, word))])));
    await database.commit([{ sql: 'DELETE FROM run_definition WHERE hash LIKE ?', params: ['woodpecker%'] }]);
    await database.purge();
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
    expect(files.map((text) => text.includes('woodpecker'))).toEqual(files.map(() => false));
    expect(await database.query('SELECT hash FROM run_definition')).toHaveLength(500);
  });
});

describe('a second opening', () => {
  it('is refused until the first is closed', async () => {
    await open();
    await expect(open()).rejects.toMatchObject({
      code: 'DATABASE_LOCKED',
      message: expect.stringContaining(join(realpathSync(folder), 'jackdaw.db')),
    });
    await opened.pop()!.close();
    await open();
  });

  it('is possible after a failed one has released the lock', async () => {
    mkdirSync(join(folder, 'jackdaw.db'));
    await expect(open()).rejects.toThrow('it is a folder');
    rmdirSync(join(folder, 'jackdaw.db'));
    await open();
  });

  it.each([
    ['is no database', () => writeFileSync(join(folder, 'jackdaw.db'), 'Dear Ann, this is a letter. '.repeat(50))],
    ['has tables of others', writeForeign],
  ])('leaves no open file if the file %s', async (_what, spoil) => {
    spoil();
    const before = openFiles();
    for (const _ of [1, 2, 3]) await expect(open()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    expect(openFiles()).toEqual(before);
  });

  it('is refused while another process has the lock, and possible after that was killed', async () => {
    await open();
    await opened.pop()!.close();
    const file = join(folder, 'jackdaw.db');
    const script = `const Sqlite = require('better-sqlite3-v13');
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

  it('in memory opens another database', async () => {
    const [one, other] = await Promise.all([openDatabase(), openDatabase()]);
    opened.push(one, other);
    expect(one.dataSource).not.toBe(other.dataSource);
  });
});

describe('the lock', () => {
  it('is for one owner until its release', async () => {
    const lock = () => lockFile(join(folder, 'x.lock'), 'It is taken.');
    const unlock = lock();
    expect(lock).toThrow('It is taken.');
    unlock();
    lock()();
  });

  it('of a removed file does not apply to new ones, whose inode may be the same', async () => {
    const file = join(folder, 'x.db');
    const releases: (() => void)[] = [];
    // File systems such as ext4 use a free inode again at once; its owner may still have the name.
    for (let n = 0; n < 20; n++) {
      writeFileSync(file, '');
      releases.push(await ownSqliteFile(file));
      rmSync(file);
      rmSync(`${file}.lock`);
    }
    expect(releases).toHaveLength(20);
    for (const release of releases) release();
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
    expect(join(sqliteFile(loadConfig({ env }).config.database))).toBe(join(file));
  });
});
