import type { Dialect, Row, SqlValue, Statement } from './statement.types.js';

/** Rows of a table; `where` may end in an ORDER BY. */
export interface Condition {
  readonly where: string;
  readonly params: readonly SqlValue[];
}

interface InsertText {
  readonly columns: readonly string[];
  readonly sql: string;
}

/** The last text for each table: nearly all inserts into one name the same columns. */
const inserts = new Map<string, InsertText>();

/** An insert of one row; the SQL is the same for the same columns, so that it is prepared once. */
export function insert(table: string, row: Row): Statement {
  const columns = Object.keys(row);
  const last = inserts.get(table);
  const isSame = last?.columns.length === columns.length && last.columns.every((name, at) => name === columns[at]);
  return { sql: isSame ? last.sql : toInsertText(table, columns), params: Object.values(row) };
}

/** An insert of rows that name the same columns, in one statement. @param rows at least one */
export function insertAll(table: string, rows: readonly Row[]): Statement {
  const { sql, params } = insert(table, rows[0]!);
  if (rows.length === 1) return { sql, params };
  const more = `, (${params.map(() => '?').join(', ')})`.repeat(rows.length - 1);
  return { sql: `${sql}${more}`, params: rows.flatMap((row) => Object.values(row)) };
}

function toInsertText(table: string, columns: readonly string[]): string {
  const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
  inserts.set(table, { columns, sql });
  return sql;
}

export function insertIgnore(dialect: Dialect, table: string, row: Row): Statement {
  const { sql, params } = insert(table, row);
  const [column = ''] = Object.keys(row);
  // MariaDB's INSERT IGNORE would make warnings of all errors, not only of this one.
  const ignored = dialect === 'mariadb' ? `ON DUPLICATE KEY UPDATE ${column} = ${column}` : 'ON CONFLICT DO NOTHING';
  return { sql: `${sql} ${ignored}`, params };
}

export function upsert(dialect: Dialect, table: string, row: Row, keyColumns: readonly string[]): Statement {
  const changed = Object.keys(row).filter((column) => !keyColumns.includes(column));
  if (changed.length === 0) return insertIgnore(dialect, table, row);
  const { sql, params } = insert(table, row);
  if (dialect === 'mariadb') {
    const sets = changed.map((column) => `${column} = VALUES(${column})`).join(', ');
    return { sql: `${sql} ON DUPLICATE KEY UPDATE ${sets}`, params };
  }
  const sets = changed.map((column) => `${column} = excluded.${column}`).join(', ');
  return { sql: `${sql} ON CONFLICT (${keyColumns.join(', ')}) DO UPDATE SET ${sets}`, params };
}

export function limitedDelete(
  dialect: Dialect,
  table: string,
  keyColumns: readonly string[],
  { where, params }: Condition,
  limit: number,
): Statement {
  const keys = keyColumns.join(', ');
  // MariaDB has no LIMIT in a subquery of IN; the others have none in DELETE.
  const sql =
    dialect === 'mariadb'
      ? `DELETE FROM ${table} WHERE ${where} LIMIT ?`
      : `DELETE FROM ${table} WHERE (${keys}) IN (SELECT ${keys} FROM ${table} WHERE ${where} LIMIT ?)`;
  return { sql, params: [...params, limit] };
}
