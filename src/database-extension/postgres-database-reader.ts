import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { PoolClient } from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { messageOf } from '../errors/index.js';
import { parseExactJson } from '../kernel/json/index.js';
import type { ByteStream, ReadConnection } from './connection.executor.js';
import type { ReadLimits, RowSet } from './database-reader.js';
import { readTooLong, unsuitable } from './read.error.js';
import { type GivenRead, ServerDatabaseReader } from './server-database-reader.js';

/** Tables and views that the role may read, one row per column. */
const POSTGRES_SCHEMA = `
  SELECT c.table_schema, c.table_name,
    CASE t.table_type WHEN 'VIEW' THEN 'view' ELSE 'table' END AS kind,
    c.column_name,
    CASE WHEN c.data_type IN ('USER-DEFINED', 'ARRAY') THEN c.udt_name ELSE c.data_type END AS type,
    c.is_nullable = 'YES' AS is_nullable,
    EXISTS (
      SELECT 1 FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
      WHERE k.contype = 'p' AND k.conrelid = r.oid AND a.attname = c.column_name
    ) AS is_key,
    (
      SELECT f.relname || '.' || b.attname
      FROM pg_constraint k
        CROSS JOIN LATERAL unnest(k.conkey, k.confkey) AS pair (own, other)
        JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = pair.own
        JOIN pg_class f ON f.oid = k.confrelid
        JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = pair.other
      WHERE k.contype = 'f' AND k.conrelid = r.oid AND a.attname = c.column_name
      LIMIT 1
    ) AS refers_to
  FROM information_schema.columns c
    JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
    JOIN pg_namespace n ON n.nspname = c.table_schema
    JOIN pg_class r ON r.relnamespace = n.oid AND r.relname = c.table_name
  WHERE c.table_schema NOT IN ('pg_catalog', 'information_schema') AND has_column_privilege(r.oid, c.column_name::text, 'SELECT')
  ORDER BY c.table_schema, c.table_name, c.ordinal_position`;

/**
 * Rights of the role, or of a role that it may assume, that a read-only transaction does not prevent: functions that
 * access the server's files or other servers, replication slots (which retain the log until the disk is full), and
 * superuser rights.
 */
const POSTGRES_RIGHTS = `
  WITH mine AS (SELECT oid, rolname, rolsuper, rolreplication FROM pg_roles WHERE pg_has_role(session_user, oid, 'MEMBER'))
  SELECT session_user AS role, ARRAY(
    SELECT 'superuser' FROM mine WHERE rolsuper AND rolname = session_user
    UNION
    SELECT 'REPLICATION' FROM mine WHERE rolreplication AND rolname = session_user
    UNION
    SELECT 'SET ROLE ' || quote_ident(rolname) FROM mine WHERE (rolsuper OR rolreplication) AND rolname <> session_user
      AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = session_user)
    UNION
    SELECT p.proname || '()' FROM pg_proc p
    WHERE p.proname ~ '^(pg_read_(binary_)?file|pg_ls_.*|pg_stat_file|pg_file_.*|lo_import|lo_export|dblink.*|pg_reload_conf|pg_rotate_logfile|pg_create_restore_point|pg_switch_wal)$'
      AND EXISTS (SELECT 1 FROM mine WHERE has_function_privilege(mine.oid, p.oid, 'EXECUTE'))
    ORDER BY 1
  ) AS rights`;

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
