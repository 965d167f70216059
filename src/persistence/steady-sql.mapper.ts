/** A quoted part of SQL, or a placeholder outside of one. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\?/g;

/** Splits SQL at its `?` placeholders; returns one more part than placeholders. */
export function splitAtPlaceholders(sql: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const { 0: token, index } of sql.matchAll(TOKEN)) {
    if (token !== '?') continue;
    pieces.push(sql.slice(from, index));
    from = index + 1;
  }
  return [...pieces, sql.slice(from)];
}

/** A query, or an insert of its rows. */
const READS = /^\s*(?:EXPLAIN QUERY PLAN\s+)?(?:INSERT\b[^?]*\s)?SELECT\b/i;
const IS_COMPARED = /(?:[=<>]|\b(?:LIMIT|OFFSET|LIKE))\s*$/i;

/**
 * Rewrites a query so that SQLite plans it once. better-sqlite3 builds SQLite with `ENABLE_STAT4` and without
 * `SQLITE_DBCONFIG_ENABLE_QPSG`, which cannot be set from here. It then uses placeholder values of ranges, of the first
 * columns of a key and of limits for planning, and compiles the statement again for other values: 60 to 100 µs for a
 * session's window, 40 µs for a tool's state. The value of a subquery is not used.
 */
export function toSteadySql(sql: string): string {
  if (!READS.test(sql)) return sql;
  const pieces = splitAtPlaceholders(sql);
  return pieces.reduce((text, piece, at) => {
    if (at === 0) return piece;
    return text + (IS_COMPARED.test(pieces[at - 1]!) ? '(SELECT ?)' : '?') + piece;
  }, '');
}
