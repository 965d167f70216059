import { splitAtPlaceholders } from './placeholder.parser.js';

const READS = /^\s*(?:EXPLAIN QUERY PLAN\s+)?SELECT\b/i;
const IS_COMPARED = /(?:[=<>]|\b(?:LIMIT|OFFSET))\s*$/i;

/**
 * The same query, planned once. SQLite as better-sqlite3 builds it (`ENABLE_STAT4`, without
 * `SQLITE_DBCONFIG_ENABLE_QPSG`, which cannot be set from here) takes the values of placeholders into account where a range, the
 * first columns of a key or a limit are compared with them, and so plans and compiles the statement anew each time it is
 * given others: 60 to 100 µs for the window of a session, 40 for a tool's state. The value of a subquery it does not look at.
 */
export function toSteadySql(sql: string): string {
  if (!READS.test(sql)) return sql;
  const pieces = splitAtPlaceholders(sql);
  return pieces.reduce((text, piece, at) => {
    if (at === 0) return piece;
    return text + (IS_COMPARED.test(pieces[at - 1]!) ? '(SELECT ?)' : '?') + piece;
  }, '');
}
