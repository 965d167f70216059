import { splitAtPlaceholders } from './placeholder.parser.js';
import type { SqlValue, Statement } from './statement.types.js';

/** SQL in PostgreSQL's own writing, and the name it is prepared under on every connection. */
export interface PreparedText {
  /** Empty when it is not kept. */
  readonly name: string;
  readonly text: string;
}

/** More different texts than a program has: whoever builds texts without end must not fill the server's memory. */
const MOST_NAMED = 1000;
const MAX_INTEGER = 2 ** 31;

/** What a statement's row count fails with: a text that is no number, made only when the count is wrong. */
export const ROWS_REFUSED = 'jackdaw refuses';

/** Every SQL text, rewritten once. */
export class PostgresStatementRegistry {
  private readonly known = new Map<string, PreparedText>();

  /** A text that gives rows. */
  query(sql: string, params: readonly SqlValue[]): PreparedText {
    const large = largeNumbers(params);
    return this.prepared(large ? `${sql}\n${large}` : sql, () => rewritten(sql, params));
  }

  /** A text that fails when it touches another number of rows than it has to; never under the name of a query. */
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

/** A parameter compared with an `integer` is taken for one, and a larger number refused, unless its type is said. */
function rewritten(sql: string, params: readonly SqlValue[]): string {
  return splitAtPlaceholders(sql).reduce(
    (text, piece, at) => `${text}$${at}${isLarge(params[at - 1]) ? '::bigint' : ''}${piece}`,
  );
}

function counting(text: string, rows: number): string {
  return `WITH touched AS (${text} RETURNING 1)
    SELECT CASE WHEN count(*) = ${rows} THEN 1 ELSE CAST('${ROWS_REFUSED} ' || count(*) AS integer) END FROM touched`;
}

/** The places of numbers that no `integer` holds; they make another text of the same SQL. */
function largeNumbers(params: readonly SqlValue[]): string {
  let places = '';
  for (let at = 0; at < params.length; at++) if (isLarge(params[at])) places += `${at},`;
  return places;
}

function isLarge(value: SqlValue | undefined): boolean {
  return typeof value === 'number' && (value >= MAX_INTEGER || value < -MAX_INTEGER) && Number.isInteger(value);
}
