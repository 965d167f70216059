import type { Dialect, Row, SqlValue, Statement } from './statement.types.js';

/**
 * The SQL of inserts into a table with the same columns. Each text is created once: a prepared statement is looked up
 * by its text, and an equal but different string must be flattened, hashed and compared each time.
 */
class InsertText {
  private readonly head: string;
  private readonly row: string;
  /** By the conflict clause, then by the number of rows. */
  private readonly texts = new Map<string, string[]>();

  constructor(
    table: string,
    private readonly columns: readonly string[],
  ) {
    this.head = `INSERT INTO ${table} (${columns.join(', ')}) VALUES `;
    this.row = `(${columns.map(() => '?').join(', ')})`;
  }

  names(columns: readonly string[]): boolean {
    return this.columns.length === columns.length && this.columns.every((name, at) => name === columns[at]);
  }

  /** @param conflict the SQL clause for existing rows; each distinct clause is cached, so it must not contain values */
  of(rows: number, conflict: string): string {
    let texts = this.texts.get(conflict);
    if (!texts) this.texts.set(conflict, (texts = []));
    return (texts[rows] ??= `${this.head}${this.row}${`, ${this.row}`.repeat(rows - 1)}${conflict && ` ${conflict}`}`);
  }
}

/** Rows of a table; `where` may end in an ORDER BY. */
export interface Condition {
  readonly where: string;
  readonly params: readonly SqlValue[];
}

/** Maximum rows per statement: each number of rows is a text of its own to prepare. */
const MOST_ROWS = 8;

/** The last insert text of each table: nearly all inserts of a table have the same columns. */
const inserts = new Map<string, InsertText>();

/** An insert of one row; the SQL is equal for equal columns, so it is prepared once. */
export function insert(table: string, row: Row): Statement {
  return { sql: textOf(table, row).of(1, ''), params: Object.values(row) };
}

/**
 * An insert of rows with the same columns, in one statement.
 * @param rows at least one
 * @param conflict the database's clause for existing rows; without it they refuse the batch
 */
export function insertAll(table: string, rows: readonly Row[], conflict = ''): Statement {
  const sql = textOf(table, rows[0]!).of(rows.length, conflict);
  const params: SqlValue[] = [];
  for (const row of rows) params.push(...Object.values(row));
  return { sql, params };
}

/** Inserts of any number of rows with the same columns, several per statement. */
export function insertMany(table: string, rows: readonly Row[]): Statement[] {
  const statements: Statement[] = [];
  for (let at = 0; at < rows.length; at += MOST_ROWS) {
    statements.push(insertAll(table, rows.slice(at, at + MOST_ROWS)));
  }
  return statements;
}

function textOf(table: string, row: Row): InsertText {
  const columns = Object.keys(row);
  const last = inserts.get(table);
  if (last?.names(columns)) return last;
  const text = new InsertText(table, columns);
  inserts.set(table, text);
  return text;
}

export function insertIgnore(dialect: Dialect, table: string, row: Row): Statement {
  return insertAll(table, [row], ignoredIn(dialect, row));
}

function ignoredIn(dialect: Dialect, row: Row): string {
  return dialect === 'mariadb' ? ignoredBy(row) : 'ON CONFLICT DO NOTHING';
}

/** Not INSERT IGNORE, which on MariaDB turns all errors into warnings. */
function ignoredBy(row: Row): string {
  const [column = ''] = Object.keys(row);
  return `ON DUPLICATE KEY UPDATE ${column} = ${column}`;
}

export function upsert(
  dialect: Dialect,
  table: string,
  rows: readonly Row[],
  keyColumns: readonly string[],
): Statement {
  const changed = Object.keys(rows[0]!).filter((column) => !keyColumns.includes(column));
  if (changed.length === 0) return insertAll(table, rows, ignoredIn(dialect, rows[0]!));
  return insertAll(table, rows, dialect === 'mariadb' ? changedByMariadb(changed) : changedBy(changed, keyColumns));
}

function changedByMariadb(columns: readonly string[]): string {
  return `ON DUPLICATE KEY UPDATE ${columns.map((column) => `${column} = VALUES(${column})`).join(', ')}`;
}

function changedBy(columns: readonly string[], keyColumns: readonly string[]): string {
  const sets = columns.map((column) => `${column} = excluded.${column}`).join(', ');
  return `ON CONFLICT (${keyColumns.join(', ')}) DO UPDATE SET ${sets}`;
}

/** An insert that adds the numbers of a row to those of an existing row. NULL is an unknown number. */
export function accumulate(dialect: Dialect, table: string, row: Row, keyColumns: readonly string[]): Statement {
  const numbers = Object.keys(row).filter((column) => !keyColumns.includes(column));
  return insertAll(table, [row], dialect === 'mariadb' ? addedByMariadb(numbers) : addedBy(table, numbers, keyColumns));
}

function addedByMariadb(columns: readonly string[]): string {
  return `ON DUPLICATE KEY UPDATE ${columns.map((column) => toSum(column, column, `VALUES(${column})`)).join(', ')}`;
}

function addedBy(table: string, columns: readonly string[], keyColumns: readonly string[]): string {
  const sums = columns.map((column) => toSum(column, `${table}.${column}`, `excluded.${column}`));
  return `ON CONFLICT (${keyColumns.join(', ')}) DO UPDATE SET ${sums.join(', ')}`;
}

function toSum(column: string, old: string, more: string): string {
  return `${column} = COALESCE(${old} + ${more}, ${old}, ${more})`;
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
