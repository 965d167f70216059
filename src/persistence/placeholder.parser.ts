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
