import type { RowSet } from './database-reader.js';

interface ColumnShape {
  readonly name: string;
  readonly type: string;
  readonly nullable?: true;
  readonly key?: true;
  /** `table.column`. */
  readonly references?: string;
}

interface TableShape {
  readonly name: string;
  readonly kind: string;
  readonly columns?: readonly ColumnShape[];
}

/** The tables for a model. */
export interface SchemaResult {
  readonly tables: readonly TableShape[];
  readonly note?: string;
}

/** Above this number of tables, only their names are returned. */
const MAX_DETAILED_TABLES = 40;

/**
 * Converts the rows of a schema query, one row per column.
 * @param isShown whether a table is included, by its schema and name
 */
export function toSchemaResult(
  { rows, isCut }: RowSet,
  isShown: (schema: string, table: string) => boolean,
): SchemaResult {
  const found = rows.map(toColumn).filter(({ schema, table }) => isShown(schema, table));
  const hasSchemas = new Set(found.map(({ schema }) => schema)).size > 1;
  const tables = new Map<string, { kind: string; columns: ColumnShape[] }>();
  for (const { schema, table, kind, shape } of found) {
    const title = hasSchemas ? `${schema}.${table}` : table;
    const known = tables.get(title);
    if (known) known.columns.push(shape);
    else tables.set(title, { kind, columns: [shape] });
  }
  const shapes = [...tables].map(([name, shape]) => ({ name, ...shape }));
  if (shapes.length <= MAX_DETAILED_TABLES && !isCut) return { tables: shapes };
  const note = `There are many tables: call again with "tables" to get their columns.${isCut ? ' Not all are listed.' : ''}`;
  return { tables: shapes.map(({ name, kind }) => ({ name, kind })), note };
}

function toColumn(row: readonly unknown[]): { schema: string; table: string; kind: string; shape: ColumnShape } {
  const [schema = '', table = '', kind = '', name = '', type = '', nullable, key, references = ''] = row.map(toText);
  const shape = {
    name,
    type,
    ...(isTrue(nullable) && { nullable: true as const }),
    ...(isTrue(key) && { key: true as const }),
    ...(references !== '' && { references }),
  };
  return { schema, table, kind, shape };
}

function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : '';
}

function isTrue(value: string | undefined): boolean {
  return value === 'true' || value === '1';
}
