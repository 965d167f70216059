import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { loadSqliteDriver } from '../../src/persistence/sqlite-handle.js';
import type { DatabaseKind } from '../../src/config/index.js';
import { newFolder } from './jackdaw.js';
import type { TestDatabase } from './test-databases.js';

/** A database with data, and a login that may read it. */
export interface ReadableDatabase {
  readonly kind: DatabaseKind;
  /** The options of the login that may only read. */
  readonly options: DataSourceOptions;
  readonly login: string;
  /** The connection of the owner, who has all rights. */
  readonly owner: DataSource;
  /** All data in it, and everything around it that the login could change, as a text. */
  state(): Promise<string>;
  /** Number of connections of the login; for a file, number of processes that this one has started. */
  connections(): Promise<number>;
  drop(): Promise<void>;
}

/** Less than the idle time of a pooled connection, in ms. */
const END_MS = 5_000;
const LOGIN = `reader_${randomBytes(5).toString('hex')}`;
const PASSWORD = 'only-for-tests';

const TABLES: Record<DatabaseKind, readonly string[]> = {
  sqlite: [
    'CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL)',
    'CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (id), big BIGINT, raw BLOB, note TEXT)',
  ],
  postgres: [
    'CREATE TABLE customer (id integer PRIMARY KEY, name text NOT NULL)',
    'CREATE TABLE purchase (id integer PRIMARY KEY, customer_id integer REFERENCES customer (id), big bigint, raw bytea, note text, amount numeric(12,2), placed_at timestamptz, facts jsonb, is_paid boolean)',
    'CREATE SEQUENCE ticket',
    `CREATE FUNCTION sneak() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN DELETE FROM purchase; RETURN 1; END $$`,
    `CREATE FUNCTION sneak_as_owner() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN DELETE FROM purchase; RETURN 1; END $$`,
  ],
  mariadb: [
    'CREATE TABLE customer (id integer PRIMARY KEY, name text NOT NULL) CHARACTER SET utf8mb4',
    'CREATE TABLE purchase (id integer PRIMARY KEY, customer_id integer REFERENCES customer (id), big bigint, raw blob, note text, amount decimal(12,2), placed_at datetime)',
    'CREATE TABLE old_style (id integer) ENGINE = MyISAM',
    'INSERT INTO old_style VALUES (1)',
    'CREATE SEQUENCE ticket',
    'CREATE FUNCTION sneak() RETURNS integer MODIFIES SQL DATA BEGIN DELETE FROM purchase; RETURN 1; END',
    'CREATE FUNCTION sneak_old() RETURNS integer MODIFIES SQL DATA BEGIN DELETE FROM old_style; RETURN 1; END',
    'CREATE PROCEDURE sneak_out() BEGIN COMMIT; DELETE FROM purchase; SELECT 1; END',
  ],
};

const ROWS = [
  `INSERT INTO customer (id, name) VALUES (1, 'Ann'), (2, '安妮 🐦')`,
  `INSERT INTO purchase (id, customer_id, big, note) VALUES (1, 1, 9007199254740993, 'first'), (2, 1, -5, NULL), (3, 2, 3, '')`,
];

export async function createReadable(kind: DatabaseKind, database: TestDatabase): Promise<ReadableDatabase> {
  const opened = await openOwner(kind, database);
  const { owner, options } = opened;
  for (const sql of [...TABLES[kind], ...ROWS, ...opened.login]) await owner.query(sql);
  const connections = () => connectionsTo(kind, owner);
  const state = () => stateOf(kind, owner);
  return { kind, owner, options, login: LOGIN, state, connections, drop: () => opened.drop() };
}

interface Owned {
  readonly owner: DataSource;
  readonly options: DataSourceOptions;
  /** The statements that create the login. */
  readonly login: readonly string[];
  drop(): Promise<void>;
}

async function openOwner(kind: DatabaseKind, { url }: TestDatabase): Promise<Owned> {
  if (kind === 'sqlite') return openFile();
  const type = kind === 'postgres' ? 'postgres' : 'mariadb';
  const owner = await new DataSource({ type, url }).initialize();
  const own = new URL(url);
  own.username = LOGIN;
  own.password = PASSWORD;
  const name = own.pathname.slice(1);
  const login =
    kind === 'postgres'
      ? [
          `CREATE ROLE ${LOGIN} LOGIN PASSWORD '${PASSWORD}'`,
          `GRANT SELECT ON customer, purchase TO ${LOGIN}`,
          `GRANT ALL ON purchase, ticket TO ${LOGIN}`,
          `GRANT ALL ON SCHEMA public TO ${LOGIN}`,
        ]
      : [
          `CREATE USER '${LOGIN}'@'%' IDENTIFIED BY '${PASSWORD}'`,
          `CREATE USER '${LOGIN}'@'localhost' IDENTIFIED BY '${PASSWORD}'`,
          ...['%', 'localhost'].map((host) => `GRANT ALL PRIVILEGES ON ${name}.* TO '${LOGIN}'@'${host}'`),
        ];
  const drop = async () => {
    const hosts = ['%', 'localhost'].map((host) => `DROP USER '${LOGIN}'@'${host}'`);
    const drops = kind === 'postgres' ? [`DROP OWNED BY ${LOGIN}`, `DROP ROLE ${LOGIN}`] : hosts;
    for (const sql of drops) await owner.query(sql);
    await owner.destroy();
  };
  return { owner, options: { type, url: own.href } as DataSourceOptions, login, drop };
}

async function openFile(): Promise<Owned> {
  const folder = newFolder();
  const options = { type: 'better-sqlite3', database: join(folder, 'shop.db') } as const;
  const owner = await new DataSource({ ...options, driver: loadSqliteDriver() }).initialize();
  const drop = async () => {
    await owner.destroy();
    rmSync(folder, { recursive: true });
  };
  return { owner, options, login: [], drop };
}

const AROUND: Record<DatabaseKind, readonly string[]> = {
  sqlite: ['SELECT name, sql FROM sqlite_schema ORDER BY name', 'PRAGMA user_version', 'PRAGMA journal_mode'],
  postgres: [
    `SELECT relname, relkind FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY relname`,
    'SELECT last_value, is_called FROM ticket',
    'SELECT count(*) FROM pg_largeobject_metadata',
    `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    `SELECT rolname, rolconfig, rolsuper FROM pg_roles WHERE rolname = '${LOGIN}'`,
  ],
  mariadb: [
    'SHOW TABLES',
    'SELECT * FROM old_style',
    'SELECT next_not_cached_value FROM ticket',
    'SELECT @@global.max_statement_time AS time, @@global.read_only AS ro',
    "SELECT IS_FREE_LOCK('agent-lock') AS free",
    "SELECT CONCAT(user, '@', host) AS login FROM mysql.user WHERE user LIKE 'loot%'",
  ],
};

async function stateOf(kind: DatabaseKind, owner: DataSource): Promise<string> {
  const statements = ['SELECT * FROM customer ORDER BY id', 'SELECT * FROM purchase ORDER BY id', ...AROUND[kind]];
  const states: unknown[] = [];
  for (const sql of statements) states.push(await owner.query(sql));
  return JSON.stringify(states);
}

/** Waits until the login has at most this number of connections. */
export async function connectionsEnd(database: ReadableDatabase, most = 0): Promise<void> {
  const from = performance.now();
  while ((await database.connections()) > most) {
    if (performance.now() - from > END_MS) throw new Error(`it still has ${await database.connections()} connections`);
    await delay(20);
  }
}

async function connectionsTo(kind: DatabaseKind, owner: DataSource): Promise<number> {
  if (kind === 'sqlite') return process.getActiveResourcesInfo().filter((type) => type === 'ProcessWrap').length;
  const [of, column] =
    kind === 'postgres' ? ['pg_stat_activity', 'usename'] : ['information_schema.processlist', 'user'];
  const rows = await owner.query<unknown[]>(`SELECT 1 FROM ${of} WHERE ${column} = '${LOGIN}'`);
  return rows.length;
}
