import { afterEach, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { rmSync } from 'node:fs';
import { Client } from 'pg';
import { DataSource, EntitySchema, type MigrationInterface, type QueryRunner } from 'typeorm';
import { loadConfig, type EnvRecord } from '../src/config/index.js';
import { createAgent, type Agent } from '../src/index.js';
import { LLM_MIGRATIONS } from '../src/llm/index.js';
import { initialiseDataSource } from '../src/persistence/index.js';
import { openPersistence } from '../src/persistence/shared-persistence.registry.js';
import type { OpenPersistence } from '../src/persistence/persistence.types.js';
import { RUN_MIGRATIONS } from '../src/run/index.js';
import { SESSION_ENTITIES, SESSION_MIGRATIONS } from '../src/session/index.js';
import { newFolder } from './support/jackdaw.js';
import { says, ScriptedChatModel } from './support/scripted-chat-model.js';
import { describeDatabases, testServers } from './support/test-databases.js';

Logger.overrideLogger(false);
const servers = await testServers();
const onPostgres = servers.filter(({ kind }) => kind === 'postgres');
const onServers = servers.filter(({ kind }) => kind !== 'sqlite');
const OPTIONS = {
  entities: SESSION_ENTITIES,
  migrations: [...RUN_MIGRATIONS, ...SESSION_MIGRATIONS, ...LLM_MIGRATIONS],
};
const NAMES = [...OPTIONS.migrations.map(({ name }) => name), 'CreateStorageProbe1764000000030'];

class CreateBird1700000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE bird (name text)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE bird');
  }
}

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

/** @param isHost whether Jackdaw is part of a host application */
async function open(env: EnvRecord, isHost = false): Promise<OpenPersistence> {
  const one = await openPersistence(loadConfig({ env, overrides: isHost ? env : {}, isHost }).config.database, OPTIONS);
  opened.push(one);
  return one;
}

async function startAgent(config: EnvRecord, text: string): Promise<Agent> {
  const chatModel = new ScriptedChatModel([says(text)]);
  // A worker of the cluster, which has a queue.
  const agent = await createAgent({ config, chatModel, keepAlive: true });
  opened.push(agent);
  return agent;
}

describeDatabases('the schema of the tables', onPostgres, (database) => {
  async function asUser<Found>(sql: string, params: unknown[] = [], url = database().url): Promise<Found[]> {
    const client = new Client(url);
    await client.connect();
    try {
      return (await client.query(sql, params)).rows as Found[];
    } finally {
      await client.end();
    }
  }

  async function tablesOf(schema: string): Promise<string[]> {
    const rows = await asUser<{ name: string }>(
      'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = $1 ORDER BY 1',
      [schema],
    );
    return rows.map(({ name }) => name);
  }

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close()));
    const rows = await asUser<{ name: string }>(
      `SELECT nspname AS name FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$'`,
    );
    for (const { name } of rows) await asUser(`DROP SCHEMA "${name}" CASCADE`);
    await asUser('CREATE SCHEMA public');
  });

  it('is public for a server, and jackdaw for a new installation of a host application', async () => {
    await asUser('CREATE TABLE run (mine text)');
    await asUser("INSERT INTO run VALUES ('theirs')");
    const host = await open({ DATABASE_URL: database().url }, true);
    expect(host.database.place?.schema).toBe('jackdaw');
    expect(await tablesOf('public')).toEqual(['run']);
    expect(await tablesOf('jackdaw')).toEqual(expect.arrayContaining(['jackdaw_migration', 'run', 'session']));
    await asUser('DROP TABLE run');
    const server = await open({ DATABASE_URL: database().url });
    expect(server.database.place?.schema).toBe('public');
    expect(await tablesOf('public')).toContain('run');
  });

  it('stays that of an existing installation', async () => {
    await open({ DATABASE_URL: database().url });
    const host = await open({ DATABASE_URL: database().url }, true);
    expect(host.database.place?.schema).toBe('public');
    expect(await tablesOf('jackdaw')).toEqual([]);
  });

  it.each(['DATABASE_SCHEMA', '?schema='])('is that of %s, created if it is missing', async (way) => {
    const url = database().url;
    const env =
      way === 'DATABASE_SCHEMA'
        ? { DATABASE_URL: url, DATABASE_SCHEMA: 'agents' }
        : { DATABASE_URL: `${url}?schema=agents` };
    for (const isHost of [false, true]) expect((await open(env, isHost)).database.place?.schema).toBe('agents');
    expect(await tablesOf('public')).toEqual([]);
  });

  it('separates two installations in one database: runs, locks, channels and queues', async () => {
    const configOf = (schema: string) => ({ DATABASE_URL: database().url, DATABASE_SCHEMA: schema });
    // The lock of a migration in another schema.
    const other = new Client(`${database().url}?options=-c%20search_path%3Dsecond`);
    await other.connect();
    await other.query('CREATE SCHEMA second');
    await other.query('SELECT pg_advisory_lock(5226324, hashtext(current_schema()))');
    const first = await startAgent(configOf('first'), 'From the first.');
    expect((await first.chat('x')).content).toBe('From the first.');
    await other.end();
    const second = await startAgent(configOf('second'), 'From the second.');
    expect((await second.chat('x')).content).toBe('From the second.');
    for (const schema of ['first', 'second']) {
      expect(await asUser(`SELECT count(*)::int AS runs FROM ${schema}.run`)).toEqual([{ runs: 1 }]);
      expect(await tablesOf(`jackdaw_queue_${schema}`)).toContain('migration');
      const listeners = await asUser('SELECT pid FROM pg_stat_activity WHERE query LIKE $1', [`LISTEN ${schema}_%`]);
      expect(listeners).toHaveLength(1);
    }
  });

  it('has its own table of migrations, to which the rows of former versions move', async () => {
    const { dataSource } = await open({ DATABASE_URL: database().url });
    await dataSource.query('CREATE TABLE migrations (LIKE jackdaw_migration INCLUDING ALL)');
    await dataSource.query('INSERT INTO migrations SELECT * FROM jackdaw_migration');
    await dataSource.query('DROP TABLE jackdaw_migration CASCADE');
    await dataSource.query('ALTER TABLE migrations ALTER COLUMN id SET DEFAULT 999');
    await dataSource.query("INSERT INTO migrations (timestamp, name) VALUES (1, 'OfTheHost1')");
    await open({ DATABASE_URL: database().url });
    expect(await dataSource.query('SELECT name FROM migrations')).toEqual([{ name: 'OfTheHost1' }]);
    const rows: { name: string }[] = await dataSource.query('SELECT name FROM jackdaw_migration');
    expect(rows.map(({ name }) => name).toSorted()).toEqual(NAMES.toSorted());
  });

  it('is not changed by TypeORM of the application: migrations, synchronize and dropDatabase', async () => {
    const agent = await startAgent({ DATABASE_URL: database().url }, 'Hello.');
    const run = new EntitySchema<{ id: string }>({ name: 'run', columns: { id: { type: 'text', primary: true } } });
    const host = new DataSource({
      type: 'postgres',
      url: database().url,
      entities: [run],
      migrations: [CreateBird1700000000000],
      synchronize: true,
      installExtensions: false,
    });
    await initialiseDataSource(host);
    await host.runMigrations();
    expect(await tablesOf('public')).toEqual(['bird', 'migrations', 'run']);
    await host.undoLastMigration();
    await host.dropDatabase();
    await host.destroy();
    expect(await tablesOf('public')).toEqual([]);
    expect((await agent.chat('x')).content).toBe('Hello.');
    expect(await asUser('SELECT count(*)::int AS runs FROM jackdaw.run')).toEqual([{ runs: 1 }]);
  });

  it('may not be created: the start fails with the remedy', async () => {
    await asUser('CREATE ROLE jackdaw_reader LOGIN').catch(() => undefined);
    const url = new URL(database().url);
    url.username = 'jackdaw_reader';
    await expect(open({ DATABASE_URL: url.href }, true)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(
        /jackdaw_reader may not create the schema jackdaw .*CREATE SCHEMA jackdaw AUTHORIZATION jackdaw_reader/,
      ),
    });
    await asUser('DROP ROLE jackdaw_reader');
  });
});

describeDatabases('a database with tables of others', onServers, (database) => {
  it('is refused before anything is created, if they have names of ours', async () => {
    // With Redis, several processes may use a MariaDB.
    const env = { DATABASE_URL: database().url, REDIS_URL: 'redis://127.0.0.1:1' };
    const own = await openPersistence(loadConfig({ env }).config.database, {
      entities: [],
      migrations: [],
    });
    const { dataSource } = own;
    await dataSource.query('CREATE TABLE session_turn (mine integer)');
    // As before the first start of Jackdaw.
    await dataSource.query('DROP TABLE jackdaw_migration');
    await expect(open(env)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(
        /with names that Jackdaw needs: session_turn, storage_probe\. Nothing was created: /,
      ),
    });
    const tables: unknown[] = await dataSource.query(
      `SELECT table_name FROM information_schema.tables WHERE table_name IN ('run', 'session', 'session_turn', 'jackdaw_migration')
        AND table_schema NOT IN ('information_schema', 'mysql') AND table_schema = ${database().kind === 'mariadb' ? 'DATABASE()' : "'public'"}`,
    );
    expect(tables).toHaveLength(1);
    await own.close();
  });
});

describe('a SQLite file with tables of others', () => {
  it('is refused before anything is created, if they have names of ours', async () => {
    const folder = newFolder();
    const { database } = loadConfig({ env: { DATA_DIR: folder } }).config;
    const own = await openPersistence(database, { entities: [], migrations: [] });
    await own.dataSource.query('CREATE TABLE session_turn (mine integer)');
    await own.dataSource.query('DROP TABLE jackdaw_migration');
    await own.close();
    await expect(open({ DATA_DIR: folder })).rejects.toThrow(
      /with names that Jackdaw needs: session_turn, storage_probe\. Nothing/,
    );
    rmSync(folder, { recursive: true });
  });
});

describe('DATABASE_SCHEMA', () => {
  it.each([
    ['Agents', {}, 'must be at most 40 lower-case letters'],
    ['pg_x', {}, 'no schema of the system'],
    ['agents', {}, 'has no effect, as SQLite has no schemas'],
    ['agents', { DATABASE_URL: 'mariadb://h/x' }, 'has no effect, as MariaDB has no schemas: name another database'],
    ['agents', { DATABASE_URL: 'postgres://h/x?schema=other' }, 'and the schema of DATABASE_URL differ'],
  ])('is refused as %s with %j', (schema, env, message) => {
    expect(() => loadConfig({ env: { ...env, DATABASE_SCHEMA: schema } })).toThrow(message);
  });

  it.each([
    ['sslmode=on', 'its sslmode must be one of disable, allow, prefer, require, verify-ca, verify-full, no-verify'],
    ['sslmode=verify-ca', 'needs sslrootcert'],
    ['schema=A', 'its schema must be at most 40'],
  ])('is not read from a URL with %s, which is refused', (params, message) => {
    expect(() => loadConfig({ env: { DATABASE_URL: `postgres://h/x?${params}` } })).toThrow(message);
  });
});
