import type { FieldPacket, PoolConnection, PrepareStatementInfo, QueryError } from 'mysql2';
import type { DataSourceOptions } from 'typeorm';
import type { ByteStream, ReadConnection } from './connection.executor.js';
import type { ReadLimits, ReadParameter, RowSet } from './database-reader.js';
import { readTooLong, unsuitable } from './read.error.js';
import { type GivenRead, ServerDatabaseReader } from './server-database-reader.js';

/** Tables and views that the user may read, one row per column. */
const MARIADB_SCHEMA = `
  SELECT c.TABLE_SCHEMA AS table_schema, c.TABLE_NAME AS table_name,
    CASE t.TABLE_TYPE WHEN 'VIEW' THEN 'view' ELSE 'table' END AS kind,
    c.COLUMN_NAME AS column_name, c.COLUMN_TYPE AS type, c.IS_NULLABLE = 'YES' AS is_nullable, c.COLUMN_KEY = 'PRI' AS is_key,
    (
      SELECT CONCAT(k.REFERENCED_TABLE_NAME, '.', k.REFERENCED_COLUMN_NAME) FROM information_schema.KEY_COLUMN_USAGE k
      WHERE k.TABLE_SCHEMA = c.TABLE_SCHEMA AND k.TABLE_NAME = c.TABLE_NAME AND k.COLUMN_NAME = c.COLUMN_NAME
        AND k.REFERENCED_TABLE_NAME IS NOT NULL
      LIMIT 1
    ) AS refers_to
  FROM information_schema.COLUMNS c
    JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
  WHERE c.TABLE_SCHEMA = DATABASE()
  ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION`;

const PRODUCT = { title: 'MariaDB', protocols: ['mariadb:', 'mysql:'], port: 3306 };
/** `ER_STATEMENT_TIMEOUT`. */
const TIMED_OUT = 1969;
/** Rights that a read-only transaction does not remove. */
const EXCESSIVE_RIGHTS = /\b(ALL PRIVILEGES|FILE|SUPER)\b/;

/**
 * Reads MariaDB in a read-only transaction that is never committed. Each statement is prepared first, so that the
 * server itself reports that it is one statement with rows. Statements that end a transaction or change the session
 * (`COMMIT`, `SET`, `CALL`, `INTO OUTFILE`, a block) return no rows. The session state (locks, variables) is reset
 * after each read.
 */
export class MariadbDatabaseReader extends ServerDatabaseReader<PoolConnection> {
  readonly dialect = 'MariaDB; placeholders are ?';
  readonly schemaSql = MARIADB_SCHEMA;

  constructor(options: DataSourceOptions) {
    const { extra } = options as { extra?: object };
    super(options, PRODUCT, {
      supportBigNumbers: true,
      bigNumberStrings: false,
      dateStrings: true,
      extra: { ...extra, multipleStatements: false, infileStreamFactory: undefined },
    });
  }

  protected async assertRights(): Promise<void> {
    const [{ version } = { version: '' }] =
      await this.source.query<{ version: string }[]>('SELECT VERSION() AS version');
    if (!/mariadb/i.test(version)) throw unsuitable(`it is MySQL ${version}, not MariaDB.`);
    const rows = await this.source.query<Record<string, string>[]>('SHOW GRANTS');
    const rights = rows
      .flatMap(Object.values)
      .flatMap((grant: string) => /^GRANT (.*) ON \*\.\* TO/.exec(grant)?.[1] ?? []);
    const found = rights.flatMap((listed) => EXCESSIVE_RIGHTS.exec(listed)?.[0] ?? []);
    if (found.length === 0) return;
    throw unsuitable(
      `its user has more rights than reading (${found.join(', ')}). Create a separate user: CREATE USER agent_reader IDENTIFIED BY '…'; GRANT SELECT ON … TO agent_reader; and use it in the data source.`,
    );
  }

  protected wrap(connection: PoolConnection): ReadConnection<PoolConnection> {
    return {
      connection,
      stream: (connection as unknown as { stream: ByteStream }).stream,
      stop: () => this.control.query(`KILL QUERY ${connection.threadId}`),
      destroy: async () => connection.destroy(),
    };
  }

  protected async readOnce(
    connection: PoolConnection,
    { sql, parameters }: GivenRead,
    { maxRows, timeoutMs }: ReadLimits,
  ): Promise<RowSet> {
    try {
      await run(connection, `SET SESSION max_statement_time = ${timeoutMs / 1000}, sql_select_limit = ${maxRows + 1}`);
      await run(connection, 'START TRANSACTION READ ONLY');
      await assertQuery(connection, sql);
      return await execute(connection, sql, { parameters, maxRows });
    } catch (error) {
      throw (error as QueryError).errno === TIMED_OUT ? readTooLong(timeoutMs) : error;
    } finally {
      await run(connection, 'ROLLBACK');
      await reset(connection);
    }
  }
}

/**
 * Accepts only statements that the server can explain and that have columns. It can explain queries, and statements
 * that change tables: the transaction rejects those, and with `INTO` they have no rows. Preparing executes neither.
 */
async function assertQuery(connection: PoolConnection, sql: string): Promise<void> {
  const { columns } = await prepare(connection, sql);
  const isExplained = await prepare(connection, `EXPLAIN ${sql}`).then(
    () => true,
    () => false,
  );
  if (!isExplained || columns.length === 0) throw new Error('it is not a query with rows (SELECT, WITH, VALUES).');
}

function run(connection: PoolConnection, sql: string): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.query(sql, (error: QueryError | null) => (error ? reject(error) : resolve()));
  });
}

function reset(connection: PoolConnection): Promise<void> {
  const resettable = connection as unknown as { reset(done: (error: Error | null) => void): void };
  return new Promise((resolve, reject) => {
    resettable.reset((error) => (error ? reject(error) : resolve()));
  });
}

function prepare(connection: PoolConnection, sql: string): Promise<{ columns: readonly unknown[] }> {
  return new Promise((resolve, reject) => {
    connection.prepare(sql, (error: QueryError | null, statement: PrepareStatementInfo) => {
      if (error) reject(error);
      else resolve(statement as unknown as { columns: readonly unknown[] });
    });
  });
}

/** Collects rows and stops after `maxRows + 1`: `LIMIT` may request more than the session's own limit. */
function execute(
  connection: PoolConnection,
  sql: string,
  { parameters, maxRows }: { readonly parameters: readonly ReadParameter[]; readonly maxRows: number },
): Promise<RowSet> {
  return new Promise((resolve, reject) => {
    let columns: string[] = [];
    const rows: unknown[][] = [];
    const command = connection.execute({ sql, values: [...parameters], rowsAsArray: true });
    command.on('fields', (fields: FieldPacket[] | undefined) => {
      columns = fields?.map(({ name }) => name) ?? [];
    });
    command.on('result', (row: unknown) => {
      if (Array.isArray(row) && rows.length <= maxRows) rows.push(row);
    });
    command.on('error', reject);
    command.on('end', () => resolve({ columns, rows: rows.slice(0, maxRows), isCut: rows.length > maxRows }));
  });
}
