import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { PoolClient } from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { messageOf, parseExactJson } from '../../common/index.js';
import type { ByteStream, ReadConnection } from './connection.executor.js';
import type { ReadLimits, RowSet } from './database-reader.js';
import { POSTGRES_RIGHTS, POSTGRES_SCHEMA } from './postgres-catalog.registry.js';
import { readTooLong, unsuitable } from './read.error.js';
import { type GivenRead, ServerDatabaseReader } from './server-database-reader.js';

const PRODUCT = { title: 'PostgreSQL', protocols: ['postgres:', 'postgresql:'], port: 5432 };
/** `query_canceled`. */
const CANCELLED = '57014';
/** The values as the server writes them: nothing is lost on the way. */
const TEXT = { getTypeParser: () => (value: string) => value };
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 26, 700, 701]);
const BOOLEAN = 16;
const JSON_TYPES: ReadonlySet<number> = new Set([114, 3802]);

/**
 * Reads PostgreSQL through a cursor, which its grammar allows for a query alone and not for any other statement, in a transaction
 * that is read-only and never committed. What a connection holds besides (advisory locks, settings) is discarded after each read.
 */
export class PostgresDatabaseReader extends ServerDatabaseReader<PoolClient> {
  readonly dialect = 'PostgreSQL; place holders are $1, $2, …';
  readonly schemaSql = POSTGRES_SCHEMA;

  constructor(options: DataSourceOptions) {
    super(options, PRODUCT, { installExtensions: false, applicationName: 'jackdaw: reads for agents' });
  }

  protected async assertRights(): Promise<void> {
    const [found] = await this.source.query<{ role: string; rights: string[] }[]>(POSTGRES_RIGHTS);
    if (!found || found.rights.length === 0) return;
    const { role, rights } = found;
    throw unsuitable(
      `its role "${role}" may do more than read it (${rights.join(', ')}). Make one of its own: CREATE ROLE agent_reader LOGIN PASSWORD '…'; GRANT SELECT ON … TO agent_reader; and let the data source log in as that.`,
    );
  }

  protected hold(client: PoolClient): ReadConnection<PoolClient> {
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
      // The extended protocol takes one statement; a second one after a semicolon is a mistake.
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

/** Numbers, truth values and JSON as such where nothing is lost; else the text. */
function toValue(value: string | null, type: number): unknown {
  if (value === null) return null;
  if (type === BOOLEAN) return value === 't';
  if (JSON_TYPES.has(type)) return parseExactJson(value);
  if (!NUMBERS.has(type)) return value;
  const number = Number(value);
  return Number.isFinite(number) && (Number.isSafeInteger(number) || !/^-?\d+$/.test(value)) ? number : value;
}
