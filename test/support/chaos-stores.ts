import { createConnection } from 'mysql2/promise';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Client, TypeOverrides, types as wireTypes } from 'pg';
import type { DatabaseKind } from '../../src/config/index.js';
import { forgetRedisTurns, readFileTurns, readRedisTurns, type StoredTurnRow } from './chaos-archives.js';
import { testRedisUrl, testServers, type TestServer } from './test-databases.js';

export type Cells = Readonly<Record<string, string | number | null>>;

/** A database, and optionally a Redis, shared by processes that are killed. */
export interface ChaosStore {
  readonly name: string;
  readonly answers: boolean;
  /** Number of processes that share it. */
  readonly nodes: number;
  /** Creates an empty store. @param folder for its files */
  open(folder: string): Promise<OpenChaosStore>;
}

export interface OpenChaosStore {
  /** The variables that select it. */
  readonly env: Readonly<Record<string, string>>;
  /** Reads it directly, without the application. */
  query<Row = Cells>(sql: string): Promise<Row[]>;
  /** Reads the turns of sessions directly, if they are not in the database. */
  readonly archived?: () => Promise<StoredTurnRow[]>;
  drop(): Promise<void>;
}

/** Short, so that a takeover is fast, and long enough that a process under load renews its lease in time. */
export const CLUSTER = { CLUSTER_LEASE_MS: '800', CLUSTER_CHECK_MS: '100' };

/** A database, and its additional store. */
const STORES = [
  'sqlite',
  'postgres',
  'mariadb',
  'mariadb with redis',
  'sqlite with session files',
  'postgres with session redis',
] as const;

/** Every combination of stores that Jackdaw supports. */
export async function chaosStores(): Promise<readonly ChaosStore[]> {
  const servers = await testServers();
  const redis = await testRedisUrl();
  return STORES.map((name) => {
    const [kind, beside = ''] = name.split(' with ') as [DatabaseKind, string?];
    const server = servers.find((one) => one.kind === kind)!;
    const isCluster = kind === 'postgres' || beside === 'redis';
    return {
      name,
      answers: server.answers && (!beside.endsWith('redis') || redis !== null),
      nodes: isCluster ? 2 : 1,
      open: async (folder) => {
        const env = { ...(isCluster && CLUSTER), ...(beside === 'redis' && { REDIS_URL: redis! }) };
        const open = kind === 'sqlite' ? openSqlite(folder) : await openServer(server, env);
        switch (beside) {
          case 'session files':
            return withFiles(open, folder);
          case 'session redis':
            return withRedis(open, redis!);
          default:
            return open;
        }
      },
    };
  });
}

async function openServer(server: TestServer, env: OpenChaosStore['env']): Promise<OpenChaosStore> {
  const database = await server.create();
  const { kind, url } = database;
  return {
    env: { ...env, DATABASE_URL: url },
    query: (sql) => readFrom(kind, url, sql),
    drop: () => database.drop(),
  };
}

function withFiles(open: OpenChaosStore, folder: string): OpenChaosStore {
  const archived = async () => readFileTurns(join(folder, 'sessions'));
  return { ...open, env: { ...open.env, SESSION_STORE: 'file' }, archived };
}

function withRedis(open: OpenChaosStore, url: string): OpenChaosStore {
  const sessions = async () => (await open.query<{ id: string }>('SELECT id FROM session')).map(({ id }) => id);
  return {
    ...open,
    env: { ...open.env, SESSION_STORE: url },
    archived: async () => readRedisTurns(url, await sessions()),
    drop: async () => {
      await forgetRedisTurns(url, await sessions());
      await open.drop();
    },
  };
}

function openSqlite(folder: string): OpenChaosStore {
  const file = join(folder, 'chaos.db');
  mkdirSync(folder, { recursive: true });
  return {
    env: { DATABASE_URL: `sqlite:${file}` },
    query: (sql) => readFrom('sqlite', file, sql),
    drop: async () => undefined,
  };
}

/** One statement on a connection of its own. */
export async function readFrom<Row>(kind: DatabaseKind, url: string, sql: string): Promise<Row[]> {
  switch (kind) {
    case 'sqlite':
      return readSqlite(url, sql);
    case 'postgres':
      return readPostgres(url, sql);
    case 'mariadb':
      return readMariadb(url, sql);
  }
}

interface SqliteFile {
  prepare(sql: string): { all(): unknown[] };
  close(): void;
}

function readSqlite<Row>(file: string, sql: string): Row[] {
  const Sqlite = createRequire(import.meta.url)('better-sqlite3-v13') as new (
    path: string,
    options: object,
  ) => SqliteFile;
  const database = new Sqlite(file, { fileMustExist: true });
  try {
    return database.prepare(sql).all() as Row[];
  } finally {
    database.close();
  }
}

async function readPostgres<Row>(url: string, sql: string): Promise<Row[]> {
  // Times are bigints, which the driver gives as text.
  const types = new TypeOverrides();
  types.setTypeParser(wireTypes.builtins.INT8, Number);
  const client = new Client({ connectionString: url, types });
  await client.connect();
  try {
    return (await client.query<Row & object>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function readMariadb<Row>(url: string, sql: string): Promise<Row[]> {
  const connection = await createConnection(url);
  try {
    const [rows] = await connection.query(sql);
    return rows as Row[];
  } finally {
    await connection.end();
  }
}
