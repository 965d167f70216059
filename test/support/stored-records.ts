import { Redis } from 'ioredis';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Database } from '../../src/persistence/index.js';

/** One stored text: a column of a row, a field of a key in Redis, or a file. */
export interface StoredText {
  /** `table.column`, `redis:key` or `file:path`. */
  readonly place: string;
  readonly text: string;
  /** The whole row, or key, field and value. */
  readonly record: string;
}

const COLUMNS = {
  sqlite: `SELECT m.name AS "table", p.name AS "column", lower(p.type) AS type FROM sqlite_master m, pragma_table_info(m.name) p
    WHERE m.type = 'table'`,
  postgres: `SELECT CASE table_schema WHEN 'public' THEN '' ELSE table_schema || '.' END || table_name AS "table",
      column_name AS "column", data_type AS type FROM information_schema.columns
    WHERE table_schema NOT IN ('pg_catalog', 'information_schema')
      AND (table_schema, table_name) IN (SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE')`,
  mariadb: `SELECT table_name AS "table", column_name AS "column", data_type AS type FROM information_schema.columns
    WHERE table_schema = DATABASE()`,
};

export interface StoredColumn {
  readonly table: string;
  readonly column: string;
  readonly type: string;
}

/** All columns of all tables, from the schema of the database. */
export async function columnsOf(database: Database): Promise<StoredColumn[]> {
  const sql = COLUMNS[database.dialect];
  return database.query<StoredColumn>(database.dialect === 'mariadb' ? sql.replaceAll('"', '`') : sql);
}

/** Every value of every table. */
export async function textsInTables(database: Database): Promise<StoredText[]> {
  const tables = new Set((await columnsOf(database)).map(({ table }) => table));
  const texts: StoredText[] = [];
  for (const table of tables) {
    const rows = await database.query<Readonly<Record<string, unknown>>>(`SELECT * FROM ${table}`);
    for (const row of rows) {
      const cells = Object.entries(row).map(([column, value]) => [column, toText(value)] as const);
      const record = JSON.stringify(cells);
      for (const [column, text] of cells) texts.push({ place: `${table}.${column}`, text, record });
    }
  }
  return texts;
}

/** Every key of a database of Redis, with its fields. */
export async function textsInRedis(url: string): Promise<StoredText[]> {
  const redis = new Redis(url);
  try {
    const texts: StoredText[] = [];
    for await (const keys of redis.scanStream({ count: 500 }) as AsyncIterable<string[]>)
      for (const key of keys) texts.push(...(await textsOf(redis, key)));
    return texts;
  } finally {
    redis.disconnect();
  }
}

async function textsOf(redis: Redis, key: string): Promise<StoredText[]> {
  return (await fieldsOf(redis, key)).map(([field, value]) => {
    const record = `${key} ${field} ${value}`;
    return { place: `redis:${key}`, text: record, record };
  });
}

async function fieldsOf(redis: Redis, key: string): Promise<(readonly [field: string, value: string])[]> {
  const type = await redis.type(key);
  switch (type) {
    case 'none':
      return [];
    case 'string':
      return [['', (await redis.get(key)) ?? '']];
    case 'hash':
      return Object.entries(await redis.hgetall(key));
    case 'list':
      return (await redis.lrange(key, 0, -1)).map((value) => ['', value]);
    case 'set':
      return (await redis.smembers(key)).map((value) => ['', value]);
    case 'zset':
      return (await redis.zrange(key, '0', '-1')).map((value) => ['', value]);
    case 'stream':
      return (await redis.xrange(key, '-', '+')).map(([id, fields]) => [id, fields.join(' ')]);
    default:
      throw new Error(`The walk does not read keys of the type ${type}, such as ${key}.`);
  }
}

/** The bytes of every file of a folder, as Latin-1. A marker in ASCII is found in them. */
export function textsInFiles(folder: string): StoredText[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => {
    const path = join(parentPath, name);
    const text = readFileSync(path).toString('latin1');
    return { place: `file:${relative(folder, path)}`, text, record: text };
  });
}

function toText(value: unknown): string {
  if (Buffer.isBuffer(value)) return value.toString('latin1');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
