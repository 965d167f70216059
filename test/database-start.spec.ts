import { afterEach, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { Client } from 'pg';
import { loadConfig, type EnvRecord } from '../src/config/index.js';
import { LLM_MIGRATIONS } from '../src/llm/index.js';
import { insert, type Statement } from '../src/persistence/statement/index.js';
import { openPersistence } from '../src/persistence/shared-persistence.registry.js';
import type { OpenPersistence } from '../src/persistence/persistence.types.js';
import { RUN_MIGRATIONS } from '../src/run/index.js';
import { SESSION_ENTITIES, SESSION_MIGRATIONS } from '../src/session/index.js';
import { TOOL_POLICY_ENTITIES, TOOL_POLICY_MIGRATIONS } from '../src/tool-policy/index.js';
import { TOOL_STATE_MIGRATIONS } from '../src/tool-state/index.js';
import { describeDatabases, testServers } from './support/test-databases.js';

const OPTIONS = {
  entities: [...SESSION_ENTITIES, ...TOOL_POLICY_ENTITIES],
  migrations: [
    ...RUN_MIGRATIONS,
    ...SESSION_MIGRATIONS,
    ...LLM_MIGRATIONS,
    ...TOOL_POLICY_MIGRATIONS,
    ...TOOL_STATE_MIGRATIONS,
  ],
};
Logger.overrideLogger(false);
const servers = await testServers();
const onServers = servers.filter(({ kind }) => kind !== 'sqlite');
const onPostgres = servers.filter(({ kind }) => kind === 'postgres');
const onMariadb = servers.filter(({ kind }) => kind === 'mariadb');

const opened: OpenPersistence[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

async function open(env: EnvRecord): Promise<OpenPersistence> {
  const one = await openPersistence(loadConfig({ env }).config.database, OPTIONS);
  opened.push(one);
  return one;
}

/** Columns and indices of the full-text search, which only one of the databases has. */
const FULL_TEXT: readonly string[] = ['terms_row', 'fact_by_terms'];
const isShared = ({ name = '' }: { name?: string }) => !FULL_TEXT.includes(name);

const REDIS = { REDIS_URL: 'redis://127.0.0.1:1' };

describeDatabases('the schema', servers, (database) => {
  it('is created once although several processes start at the same time', async () => {
    const count = database().kind === 'sqlite' ? 1 : 5;
    const nodes = await Promise.all(
      Array.from({ length: count }, () => open({ DATABASE_URL: database().url, ...REDIS })),
    );
    const done = await nodes[0]!.database.query<{ name: string }>(
      'SELECT name FROM jackdaw_migration ORDER BY timestamp',
    );
    const names = [...OPTIONS.migrations.map((Migration) => new Migration().name), 'CreateStorageProbe1764000000030'];
    expect(done.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    expect(await nodes[0]!.dataSource.showMigrations()).toBe(false);
  });

  it('has all columns and indices of the entities, and is removed when its migrations are reverted', async () => {
    const { dataSource } = await open({ DATABASE_URL: database().url, ...REDIS });
    const runner = dataSource.createQueryRunner();
    const tables = await runner.getTables(dataSource.entityMetadatas.map(({ tableName }) => tableName));
    const described = dataSource.entityMetadatas.map(({ tableName, columns, indices }) => [
      tableName,
      new Map(columns.map(({ databaseName, isNullable }) => [databaseName, isNullable])),
      new Set(indices.map(({ name }) => name)),
    ]);
    const there = tables.map(({ name, columns, indices }) => [
      name.split('.').at(-1),
      new Map(columns.filter(isShared).map((column) => [column.name, column.isNullable])),
      new Set(indices.filter(isShared).map((index) => index.name)),
    ]);
    expect(new Set(there)).toEqual(new Set(described));
    for (const _ of dataSource.migrations) await dataSource.undoLastMigration();
    const left = await runner.getTables(dataSource.entityMetadatas.map(({ tableName }) => tableName));
    await runner.release();
    expect(left).toEqual([]);
  });
});

describeDatabases('a failed start', onServers, (database, kind) => {
  const product = kind === 'postgres' ? 'PostgreSQL' : 'MariaDB';
  const at = (change: (url: URL) => void) => {
    const url = new URL(database().url);
    change(url);
    return { url: url.href, name: `${url.hostname}:${url.port}${url.pathname}` };
  };

  it.each([
    ['an unknown database', 'it has no database of that name', (url: URL) => (url.pathname = '/nowhere')],
    ['an unauthorized user', 'it refuses the user or the password', withUnknownUser],
    ['a missing server', 'nothing answers there', (url: URL) => (url.port = '1')],
    ['an unknown host', 'there is no such host', (url: URL) => (url.hostname = 'nowhere.invalid')],
    ['a missing certificate file', 'the file /nowhere.pem that DATABASE_URL names cannot be read', withoutCertificate],
  ])('reports %s without a password', async (_what, reason, change) => {
    const { url, name } = at(change);
    const error = await open({ DATABASE_URL: url, ...REDIS }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' });
    const { message } = error as Error;
    expect(message).toContain(`The ${product} database ${name} cannot be opened: ${reason}`);
    expect(message).not.toContain('hunter2');
  });
});

function withoutCertificate(url: URL): void {
  url.searchParams.set('sslmode', 'verify-full');
  url.searchParams.set('sslrootcert', '/nowhere.pem');
}

function withUnknownUser(url: URL): void {
  url.username = 'unknown';
  url.password = 'hunter2';
}

function aDefinition(hash: string): Statement {
  return insert('run_definition', { tenant: 't', hash, content: '{}', created_at: 1 });
}

describeDatabases('a database', onPostgres, (database) => {
  it('with another encoding is refused', async () => {
    const url = new URL(database().url);
    const client = new Client(url.href);
    await client.connect();
    const name = `${url.pathname.slice(1)}_latin`;
    await client.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`);
    url.pathname = name;
    const start = open({ DATABASE_URL: url.href });
    await expect(start).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining("its encoding is LATIN1: create it with ENCODING 'UTF8'"),
    });
    await client.query(`DROP DATABASE ${name}`);
    await client.end();
  });

  it('without synchronous commits causes a warning', async () => {
    const url = new URL(database().url);
    url.searchParams.set('options', '-c synchronous_commit=off');
    const { warnings } = await open({ DATABASE_URL: url.href });
    expect(warnings).toEqual([expect.stringContaining('runs with synchronous_commit off')]);
  });
});

describeDatabases('the ownership of the database', onMariadb, (database) => {
  const env = () => ({ DATABASE_URL: database().url });

  it('belongs to one process until that process ends, unless Redis is configured', async () => {
    await open(env());
    const { pathname } = new URL(database().url);
    await expect(open(env())).rejects.toMatchObject({
      code: 'DATABASE_LOCKED',
      message: expect.stringMatching(
        new RegExp(`${pathname} belongs to another running Jackdaw\\. Stop that one, or set REDIS_URL`),
      ),
    });
    await open({ ...env(), ...REDIS });
    await opened.shift()!.close();
    await open(env());
  });

  it('is acquired again after a lost connection', async () => {
    const { database: owned } = await open(env());
    for (let round = 0; round < 3; round++) {
      await database().disconnect();
      while (await owned.commit([aDefinition(`again-${round}`)]).catch((thrown: unknown) => thrown))
        await setImmediate();
    }
    await expect(open(env())).rejects.toMatchObject({ code: 'DATABASE_LOCKED' });
  });

  it('is lost if another process is faster, and the first process writes nothing more', async () => {
    const { database: owned } = await open(env());
    const url = new URL(database().url);
    const lock = `jackdaw:${url.pathname.slice(1)}`;
    url.pathname = '/mysql';
    const [heir, watcher] = [await createConnection(url.href), await createConnection(url.href)];
    const taken = heir.query<RowDataPacket[]>('SELECT GET_LOCK(?, 60) AS is_taken', [lock]);
    // Before the server knows of the request, the first process could take the lock again.
    const isWaiting = async () => {
      const sql = `SELECT state FROM information_schema.processlist WHERE id = ? AND state = 'User lock'`;
      return (await watcher.query<RowDataPacket[]>(sql, [heir.threadId]))[0].length > 0;
    };
    while (!(await isWaiting()));
    await database().disconnect();
    expect((await taken)[0]).toEqual([{ is_taken: 1 }]);
    while (!(await isLocked(owned.commit([aDefinition('late')])))) await setImmediate();
    await Promise.all([heir.end(), watcher.end()]);
    expect(await isLocked(owned.commit([aDefinition('later')]))).toBe(true);
    expect(await owned.query("SELECT hash FROM run_definition WHERE hash = 'later'")).toEqual([]);
  });
});

async function isLocked(commit: Promise<void>): Promise<boolean> {
  const error = await commit.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return (error as { code?: string } | null)?.code === 'DATABASE_LOCKED';
}

describe('a database server', () => {
  it('that does not answer stops the start after a timeout', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const starts = ['postgres', 'mariadb'].map((scheme) => open({ DATABASE_URL: `${scheme}://u@127.0.0.1:${port}/x` }));
    const errors = await Promise.all(starts.map((start) => start.catch((thrown: unknown) => thrown)));
    for (const error of errors)
      expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringMatching(/it does not answer/) });
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it('that is not configured is not contacted', async () => {
    expect(await open({ DATABASE_URL: 'sqlite::memory:' })).toMatchObject({ notifications: null, warnings: [] });
  });
});
