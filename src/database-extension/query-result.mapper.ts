import type { JsonValue } from '../kernel/index.js';
import { toCell } from './cell.mapper.js';
import type { RowSet } from './database-reader.js';

/** A query result for a model. */
export interface QueryResult {
  readonly columns: readonly string[];
  /** Values in the order of the columns. */
  readonly rows: readonly (readonly JsonValue[])[];
  /** Present only if rows were omitted: the amount, and the remedy. */
  readonly truncated?: string;
}

/** Converts rows to JSON, up to the limits. @param limits characters of one value, bytes of the rows as JSON */
export function toQueryResult(
  { columns, rows, isCut }: RowSet,
  { maxCellLength, maxBytes }: { readonly maxCellLength: number; readonly maxBytes: number },
): QueryResult {
  const shown: JsonValue[][] = [];
  let bytes = 0;
  for (const row of rows) {
    const cells = row.map((value) => toCell(value, maxCellLength));
    bytes += Buffer.byteLength(JSON.stringify(cells)) + 1;
    if (bytes > maxBytes) break;
    shown.push(cells);
  }
  if (!isCut && shown.length === rows.length) return { columns, rows: shown };
  const truncated = `Only the first ${shown.length} rows are shown: narrow the query, or aggregate.`;
  return { columns, rows: shown, truncated };
}
