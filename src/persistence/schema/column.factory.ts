import type { TableColumnOptions } from 'typeorm';
import type { Dialect } from '../statement/statement.types.js';

export interface ColumnOptions {
  readonly isPrimary?: boolean;
  readonly isNullable?: boolean;
  /** SQL expression. */
  readonly default?: string;
  /** The database numbers the rows in the order of insertion and never reuses a number. */
  readonly isCounted?: boolean;
}

/** A column in terms that all databases share. */
export interface ColumnDefinition extends ColumnOptions {
  readonly name: string;
  readonly type: 'varchar' | 'text' | 'integer' | 'bigint';
  /** Length of a `varchar`, in characters. */
  readonly length?: number;
}

/** A column of ids, names or keys, compared and ordered by bytes on every database. */
export function stringColumn(name: string, length: number, options: ColumnOptions = {}): ColumnDefinition {
  return { ...options, name, type: 'varchar', length };
}

/** A column of text of any length, mostly JSON. */
export function textColumn(name: string, options: ColumnOptions = {}): ColumnDefinition {
  return { ...options, name, type: 'text' };
}

/** A 32-bit count. */
export function integerColumn(name: string, options: ColumnOptions = {}): ColumnDefinition {
  return { ...options, name, type: 'integer' };
}

/** A column of times (epoch ms), durations (ms), sizes, or other numbers beyond 32 bits. */
export function bigintColumn(name: string, options: ColumnOptions = {}): ColumnDefinition {
  return { ...options, name, type: 'bigint' };
}

/** The column in a database's dialect. */
export function toTableColumn(
  dialect: Dialect,
  { length, isCounted, ...column }: ColumnDefinition,
): TableColumnOptions {
  const isText = column.type === 'varchar' || column.type === 'text';
  return {
    ...column,
    type: typeOf(dialect, column.type, isCounted),
    ...(length !== undefined && { length: String(length) }),
    ...(isText && collationOf(dialect)),
    ...(isCounted && { isGenerated: true, generationStrategy: 'increment' }),
  };
}

/** On SQLite, only `integer` can be auto-incremented; it has 64 bits. */
function typeOf(dialect: Dialect, type: ColumnDefinition['type'], isCounted = false): string {
  if (type === 'text' && dialect === 'mariadb') return 'longtext';
  return isCounted && dialect === 'sqlite' ? 'integer' : type;
}

/**
 * Compares by bytes. Not MariaDB's `utf8mb4_bin`, which ignores trailing spaces (`a` equals `a `). PostgreSQL would
 * order by the language of the database.
 */
function collationOf(dialect: Dialect): Partial<TableColumnOptions> {
  switch (dialect) {
    case 'sqlite':
      return {};
    case 'postgres':
      return { collation: 'C' };
    case 'mariadb':
      return { charset: 'utf8mb4', collation: 'utf8mb4_nopad_bin' };
  }
}
