import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { PoolClient } from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { messageOf } from '../errors/index.js';
import { parseExactJson } from '../kernel/index.js';
import type { ByteStream, ReadConnection } from './connection.executor.js';
import type { ReadLimits, RowSet } from './database-reader.js';
import { POSTGRES_RIGHTS, POSTGRES_SCHEMA } from './postgres-catalog.registry.js';
import { readTooLong, unsuitable } from './read.error.js';
import { type GivenRead, ServerDatabaseReader } from './server-database-reader.js';

const PRODUCT = { title: 'PostgreSQL', protocols: ['postgres:', 'postgresql:'], port: 5432 };
/** `query_canceled`. */
const CANCELLED = '57014';
/** Values in the server's text format, which loses nothing. */
const TEXT = { getTypeParser: () => (value: string) => value };
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 26, 700, 701]);
const BOOLEAN = 16;
const JSON_TYPES: ReadonlySet<number> = new Set([114, 3802]);

/**
 * Reads PostgreSQL through a cursor, which the grammar allows for queries only, in a read-only transaction that is
 * never committed. Other session state (advisory locks, settings) is discarded after each read.
 */
export class PostgresDatabaseReader extends ServerDatabaseReader<PoolClient> {
  readonly dialect = 'PostgreSQL; placeholders are $1, $2, …';
  readonly schemaSql = POSTGRES_SCHEMA;

  constructor(options: DataSourceOptions) {
    super(options, PRODUCT, { installExtensions: false, applicationName: 'jackdaw: reads for agents' });
  }

  protected async assertRights(): Promise<void> {
    const [found] = await this.source.query<{ role: string; rights: string[] }[]>(POSTGRES_RIGHTS);
    if (!found || found.rights.length === 0) return;
    const { role, rights } = found;
    throw unsuitable(
      `its role "${role}" has more rights than reading (${rights.join(', ')}). Create a separate role: CREATE ROLE agent_reader LOGIN PASSWORD '…'; GRANT SELECT ON … TO agent_reader; and use it in the data source.`,
    );
  }

  protected wrap(client: PoolClient): ReadConnection<PoolClient> {
    const { connection, processID } = client as unknown as { connection: Wire; processID: number };
    return {
      connection: client,
      stream: connection.stream,
      stop: () => this.control.query('SELECT pg_cancel_backend($1)', [processID]),
      destroy: async () => {
        if (connection.stream.destroyed) return;
        connection.stream.destroy();
        await once(connection.stream, 'close');
      },
    };
  }

  protected async readOnce(
    client: PoolClient,
    { sql, parameters }: GivenRead,
    { maxRows, timeoutMs }: ReadLimits,
  ): Promise<RowSet> {
    try {
      await client.query(`BEGIN TRANSACTION READ ONLY; SET LOCAL statement_timeout = ${timeoutMs}`);
      // The extended protocol accepts one statement; a second one after a semicolon is an error.
      const declare = {
        text: `DECLARE agent_read NO SCROLL CURSOR FOR ${sql}`,
        values: [...parameters],
        queryMode: 'extended',
      };
      await client.query(declare);
      const fetch = { text: `FETCH FORWARD ${maxRows + 1} FROM agent_read`, rowMode: 'array' as const, types: TEXT };
      const { rows, fields } = await client.query<(string | null)[]>(fetch);
      return {
        columns: fields.map(({ name }) => name),
        rows: rows.slice(0, maxRows).map((row) => row.map((value, i) => toValue(value, fields[i]!.dataTypeID))),
        isCut: rows.length > maxRows,
      };
    } catch (error) {
      if ((error as { code?: unknown }).code === CANCELLED) throw readTooLong(timeoutMs);
      throw new Error(messageOf(error), { cause: error });
    } finally {
      await client.query('ROLLBACK');
      await client.query('DISCARD ALL');
    }
  }
}

interface Wire {
  readonly stream: Socket & ByteStream;
}

/** Converts numbers, booleans and JSON if it loses nothing; else returns the text. */
function toValue(value: string | null, type: number): unknown {
  if (value === null) return null;
  if (type === BOOLEAN) return value === 't';
  if (JSON_TYPES.has(type)) return parseExactJson(value);
  if (!NUMBERS.has(type)) return value;
  const number = Number(value);
  return Number.isFinite(number) && (Number.isSafeInteger(number) || !/^-?\d+$/.test(value)) ? number : value;
}
