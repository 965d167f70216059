import { resolve } from 'node:path';
import type { DataSourceOptions } from 'typeorm';
import { messageOf } from '../errors/index.js';
import { DatabaseReader, type ReadLimits, type ReadParameter, type RowSet } from './database-reader.js';
import { readRefused, readTooLarge, unsuitable } from './read.error.js';
import { SqliteReadClient } from './sqlite-read.client.js';

const OPEN_LIMITS = { maxRows: 1, timeoutMs: 10_000, maxBytes: 1024 };

/** Tables and views, one row per column. */
const SCHEMA = `
  SELECT 'main' AS table_schema, m.name AS table_name, m.type AS kind, c.name AS column_name, c.type AS type,
    c."notnull" = 0 AS is_nullable, c.pk > 0 AS is_key,
    (SELECT f."table" || '.' || coalesce(f."to", '') FROM pragma_foreign_key_list(m.name) f WHERE f."from" = c.name) AS refers_to
  FROM sqlite_schema m JOIN pragma_table_xinfo(m.name) c
  WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
  ORDER BY m.name, c.cid`;

/**
 * Reads a SQLite file on a read-only connection, in a separate process. Statements that return no rows (`ATTACH`,
 * `VACUUM INTO`, writes) are rejected by SQLite's own classification.
 */
export class SqliteDatabaseReader extends DatabaseReader {
  readonly dialect = 'SQLite; placeholders are ?';
  readonly schemaSql = SCHEMA;
  private readonly client = new SqliteReadClient();
  private readonly file: string;

  constructor(options: DataSourceOptions) {
    super();
    const { database, key } = options as { database?: unknown; key?: unknown };
    if (typeof database !== 'string' || database === '' || database === ':memory:') {
      throw unsuitable('a SQLite database must be a file, because it is opened a second time, read-only.');
    }
    if (key !== undefined) throw unsuitable('it is an encrypted SQLite file, which cannot be opened a second time.');
    this.file = resolve(database);
  }

  async open(): Promise<void> {
    const limits = { ...OPEN_LIMITS, signal: new AbortController().signal };
    await this.read('SELECT count(*) FROM sqlite_schema', [], limits).catch((error: unknown) => {
      const { cause = error } = error as Error;
      throw unsuitable(
        `${this.file} cannot be read: ${messageOf(cause)}. Give an existing SQLite file that this process may read.`,
        error,
      );
    });
  }

  async read(sql: string, parameters: readonly ReadParameter[], limits: ReadLimits): Promise<RowSet> {
    const { maxRows, maxBytes } = limits;
    const answer = await this.client.ask({ file: this.file, sql, parameters, maxRows, maxBytes }, limits);
    switch (answer.kind) {
      case 'rows':
        return answer;
      case 'refused':
        throw readRefused(answer.message);
      case 'too_large':
        throw readTooLarge(maxBytes);
    }
  }

  async close(): Promise<void> {
    this.client.close();
  }
}
