// Creates databases for a measurement on SQLite, PostgreSQL and MariaDB; a server that does not answer is skipped.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import { Client } from 'pg';

/** Options for `parseArgs`. */
export const SERVERS = /** @type {const} */ ({
  postgres: { type: 'string', default: 'postgres://postgres@127.0.0.1:5432/postgres' },
  mariadb: { type: 'string', default: 'mariadb://root@127.0.0.1:3306/mysql' },
});

const NAME = `jackdaw_bench_${process.pid}`;

async function onPostgres(server, sql) {
  const client = new Client(server);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function onMariadb(server, sql) {
  const connection = await mysql.createConnection(server);
  try {
    await connection.query(sql);
  } finally {
    await connection.end();
  }
}

function named(server) {
  return Object.assign(new URL(server), { pathname: `/${NAME}` }).href;
}

/** Runs the work on each database, one after the other. @param work gets the kind, the URL and a folder for files */
export async function onEach({ postgres, mariadb }, work) {
  const databases = [
    { kind: 'sqlite', url: (folder) => `sqlite://${folder}/bench.db`, run: async () => {} },
    { kind: 'postgres', url: () => named(postgres), run: (sql) => onPostgres(postgres, sql) },
    { kind: 'mariadb', url: () => named(mariadb), run: (sql) => onMariadb(mariadb, sql) },
  ];
  for (const { kind, url, run } of databases) {
    try {
      await run(`CREATE DATABASE ${NAME}`);
    } catch (error) {
      console.log(`${kind.padEnd(10)} left out: ${error.message || error.code}`);
      continue;
    }
    const folder = mkdtempSync(join(tmpdir(), 'jackdaw-bench-'));
    try {
      await work(kind, url(folder), folder);
    } catch (error) {
      console.error(kind, error);
      process.exitCode = 1;
    } finally {
      rmSync(folder, { recursive: true, force: true });
      await run(`DROP DATABASE ${NAME}${kind === 'postgres' ? ' WITH (FORCE)' : ''}`);
    }
  }
}

/** Runs the work on a Redis, if it answers. @param work gets the URL */
export async function onRedis(url, work) {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  let cause;
  redis.on('error', (error) => (cause = error));
  try {
    await redis.connect();
  } catch (error) {
    console.log(`${'redis'.padEnd(10)} left out: ${(cause ?? error).message}`);
    return;
  }
  await redis.quit();
  await work(url);
}
