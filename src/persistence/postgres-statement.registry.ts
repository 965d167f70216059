import { splitAtPlaceholders } from './steady-sql.mapper.js';
import type { SqlValue, Statement } from './statement/statement.types.js';

/** SQL in PostgreSQL's syntax, and the name of its prepared statement on every connection. */
export interface PreparedText {
  /** Empty if it is not prepared. */
  readonly name: string;
  readonly text: string;
}

/**
 * Maximum prepared texts, above a program's number of statements, so that generated texts cannot fill the server's
 * memory.
 */
const MOST_NAMED = 1000;
const MAX_INTEGER = 2 ** 31;

/** Start of the error text of a wrong row count: no valid number, so the cast to integer fails. */
export const ROWS_REFUSED = 'jackdaw refuses';

/** Rewrites SQL texts, each once. */
export class PostgresStatementRegistry {
  private readonly known = new Map<string, PreparedText>();

  /** The text of a query with rows. */
  query(sql: string, params: readonly SqlValue[]): PreparedText {
    const large = largeNumbers(params);
    return this.prepared(large ? `${sql}\n${large}` : sql, () => rewritten(sql, params));
  }

  /** The text of a change that fails when it affects a different row count; never under the name of a query. */
  change({ sql, params, rows }: Statement): PreparedText {
    const key = `${rows ?? 'any'} ${largeNumbers(params)}\n${sql}`;
    return this.prepared(key, () => {
      const text = rewritten(sql, params);
      return rows === undefined ? text : counting(text, rows);
    });
  }

  private prepared(key: string, write: () => string): PreparedText {
    const found = this.known.get(key);
    if (found) return found;
    if (this.known.size >= MOST_NAMED) return { name: '', text: write() };
    const made = { name: `jackdaw_${this.known.size + 1}`, text: write() };
    this.known.set(key, made);
    return made;
  }
}

/**
 * Casts large numbers: PostgreSQL takes a parameter compared with an `integer` for one, and rejects a larger number.
 */
function rewritten(sql: string, params: readonly SqlValue[]): string {
  return splitAtPlaceholders(sql).reduce(
    (text, piece, at) => `${text}$${at}${isLarge(params[at - 1]) ? '::bigint' : ''}${piece}`,
  );
}

function counting(text: string, rows: number): string {
  return `WITH touched AS (${text} RETURNING 1)
    SELECT CASE WHEN count(*) = ${rows} THEN 1 ELSE CAST('${ROWS_REFUSED} ' || count(*) AS integer) END FROM touched`;
}

/** The positions of numbers beyond 32 bits; they make a different text of the same SQL. */
function largeNumbers(params: readonly SqlValue[]): string {
  let places = '';
  for (let at = 0; at < params.length; at++) if (isLarge(params[at])) places += `${at},`;
  return places;
}

function isLarge(value: SqlValue | undefined): boolean {
  return typeof value === 'number' && (value >= MAX_INTEGER || value < -MAX_INTEGER) && Number.isInteger(value);
}
