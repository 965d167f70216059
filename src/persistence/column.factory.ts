import type { TableColumnOptions } from 'typeorm';
import type { Dialect } from './statement.types.js';

export interface ColumnOptions {
  readonly isPrimary?: boolean;
  readonly isNullable?: boolean;
  /** SQL. */
  readonly default?: string;
  /** The database numbers the rows as they come; no number comes twice. */
  readonly isCounted?: boolean;
}

/** A column in the words that the databases have in common. */
export interface ColumnDefinition extends ColumnOptions {
  readonly name: string;
  readonly type: 'varchar' | 'text' | 'integer' | 'bigint';
  /** Of a `varchar`, in characters. */
  readonly length?: number;
}

/** Ids, names and keys: told apart by every byte, and ordered by them, on every database. */
export function stringColumn(name: string, length: number, options: ColumnOptions = {}): ColumnDefinition {
  return { ...options, name, type: 'varchar', length };
}

/** Text of any length, JSON above all. */
export function textColumn(name: string, options: ColumnOptions = {}): ColumnDefinition {
  return { ...options, name, type: 'text' };
}

/** A count, 32 bits. */
export function integerColumn(name: string, options: ColumnOptions = {}): ColumnDefinition {
  return { ...options, name, type: 'integer' };
}

/** Times in epoch ms, durations in ms, sizes: anything that 32 bits may not hold. */
export function bigintColumn(name: string, options: ColumnOptions = {}): ColumnDefinition {
  return { ...options, name, type: 'bigint' };
}

/** The column as one database has it. */
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

/** SQLite's own integers have 64 bits, and only they count. */
function typeOf(dialect: Dialect, type: ColumnDefinition['type'], isCounted = false): string {
  if (type === 'text' && dialect === 'mariadb') return 'longtext';
  return isCounted && dialect === 'sqlite' ? 'integer' : type;
}

/**
 * By the bytes. MariaDB's `utf8mb4_bin` would do but for one thing: to it `a` and `a ` are the same key. PostgreSQL would
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
