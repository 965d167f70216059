import { afterAll, beforeAll, describe, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';
import type { DatabaseKind } from '../../src/config/index.js';

const SERVERS = {
  postgres: process.env['TEST_POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres',
  mariadb: process.env['TEST_MYSQL_URL'] ?? 'mysql://root@127.0.0.1:3306/mysql',
  redis: process.env['TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6379',
};
/** Time for a server to accept a connection, in ms; without a server it is refused at once. */
const PROBE_MS = 30_000;
/** Time for the connections of a dropped database to close, and the polling interval, both in ms. */
const CLOSING_MS = 3_000;
/** Time for the server to end connections, in ms. */
const END_MS = 60_000;
const POLL_MS = 20;

/** A database of a single test file. */
export interface TestDatabase {
  readonly kind: DatabaseKind;
  /** The value for `DATABASE_URL`. */
  readonly url: string;
  /** Number of sleeping statements on the server. */
  sleeping(): Promise<number>;
  /** Ends every connection to it, as a failing server does; resolves when the server has closed them. */
  disconnect(): Promise<void>;
  drop(): Promise<void>;
}

/** A database server for tests. */
export interface TestServer {
  readonly kind: DatabaseKind;
  readonly answers: boolean;
  create(): Promise<TestDatabase>;
}

async function answers(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), timeout: PROBE_MS }, () => end(true));
    const end = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('error', () => end(false)).once('timeout', () => end(false));
  });
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function createPostgres(): Promise<TestDatabase> {
  const name = newName();
  const client = new Client(SERVERS.postgres);
  client.on('error', () => undefined);
  await client.connect();
  await client.query(`CREATE DATABASE ${name} ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`);
  const connections = `FROM pg_stat_activity WHERE datname = '${name}'`;
  return {
    kind: 'postgres',
    url: withDatabase(SERVERS.postgres, name),
    sleeping: async () => {
      const { rowCount } = await client.query(`SELECT 1 ${connections} AND wait_event = 'PgSleep'`);
      return rowCount ?? 0;
    },
    disconnect: async () => void (await client.query(`SELECT pg_terminate_backend(pid, ${END_MS}) ${connections}`)),
    drop: async () => {
      // Clients may still be closing, and would report a forced disconnect as a failure.
      for (
        let left = CLOSING_MS;
        left > 0 && (await client.query(`SELECT 1 ${connections}`)).rowCount;
        left -= POLL_MS
      ) {
        await delay(POLL_MS);
      }
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await client.end();
    },
  };
}

/** With an old character set: our tables must not depend on the database's default. */
async function createMariadb(): Promise<TestDatabase> {
  const name = newName();
  const connection = await createConnection(SERVERS.mariadb);
  connection.on('error', () => undefined);
  await connection.query(`CREATE DATABASE ${name} CHARACTER SET latin1`);
  const connections = async () => {
    const [rows] = await connection.query(`SELECT id, state FROM information_schema.processlist WHERE db = '${name}'`);
    return rows as { id: number; state: string | null }[];
  };
  return {
    kind: 'mariadb',
    url: withDatabase(SERVERS.mariadb, name),
    sleeping: async () => (await connections()).filter(({ state }) => state === 'User sleep').length,
    disconnect: async () => {
      const ended = await connections();
      for (const { id } of ended) await connection.query(`KILL ${id}`).catch(() => undefined);
      const isOpen = async () => (await connections()).some((open) => ended.some(({ id }) => id === open.id));
      for (let left = END_MS; left > 0 && (await isOpen()); left -= POLL_MS) await delay(POLL_MS);
    },
    drop: async () => {
      await connection.query(`DROP DATABASE IF EXISTS ${name}`);
      await connection.end();
    },
  };
}

async function createSqlite(): Promise<TestDatabase> {
  return {
    kind: 'sqlite',
    url: 'sqlite::memory:',
    sleeping: async () => 0,
    disconnect: async () => undefined,
    drop: async () => undefined,
  };
}

function newName(): string {
  return `jackdaw_test_${randomBytes(6).toString('hex')}`;
}

/** Every supported database. A database without a reachable server is skipped by name, and fails in CI. */
export async function testServers(): Promise<readonly TestServer[]> {
  const [postgres, mariadb] = await Promise.all([answers(SERVERS.postgres), answers(SERVERS.mariadb)]);
  return [
    { kind: 'sqlite', answers: true, create: createSqlite },
    { kind: 'postgres', answers: postgres, create: createPostgres },
    { kind: 'mariadb', answers: mariadb, create: createMariadb },
  ];
}

/** The `REDIS_URL` to test with, if a Redis answers there. */
export async function testRedisUrl(): Promise<string | null> {
  return (await answers(SERVERS.redis)) ? SERVERS.redis : null;
}

/**
 * Runs the same tests on each of the servers, on a new database that is dropped at the end.
 * @param define defines the tests; its argument is usable from the first `beforeAll` on
 */
export function describeDatabases(
  title: string,
  servers: readonly TestServer[],
  define: (database: () => TestDatabase, kind: DatabaseKind) => void,
): void {
  for (const server of servers) {
    const isLeftOut = !server.answers && !process.env['CI'];
    (isLeftOut ? describe.skip : describe)(`${title} on ${server.kind}`, () => {
      if (!server.answers) {
        it('has a server to be tested on', () => expectServer(server));
        return;
      }
      let created: TestDatabase;
      beforeAll(async () => {
        created = await server.create();
      });
      afterAll(() => created.drop());
      define(() => created, server.kind);
    });
  }
}

function expectServer({ kind }: TestServer): void {
  throw new Error(`No ${kind} answers: start one, or say where it is (TEST_POSTGRES_URL, TEST_MYSQL_URL).`);
}
