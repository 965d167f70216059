import { Injectable } from '@nestjs/common';
import { Database } from '../../persistence/index.js';
import type { SqlValue, Statement } from '../../persistence/statement/index.js';
import type { Cipher } from './cipher.js';
import type { SealedColumn, SealedTable, StoredRow } from './sealed-table.types.js';
import { MAX_HEAD, SEALED } from './sealed-text.parser.js';

/** New text of a column; `from` is the expected current text. */
export interface Replacement {
  readonly column: string;
  readonly from: string;
  readonly to: string;
  /** New values of the columns that depend on it. */
  readonly also?: Readonly<Record<string, string>>;
}

/** Prefix of the names of check values among the properties of the database. */
const KEY_CHECK = 'encryption_key:';

/** Reads and updates tables with encrypted columns in the order of their primary keys. */
@Injectable()
export class SealedRowStore {
  constructor(private readonly database: Database) {}

  /** As `Database.onceOpen`. */
  onceOpen(work: () => Promise<void> | void): Promise<void> {
    return this.database.onceOpen(work);
  }

  /**
   * Up to `limit` rows after a key, in the order of the key, with only the first `MAX_HEAD` characters of their texts.
   * @param after the last row of the previous page; `null` for the first page
   */
  async heads(table: SealedTable, after: StoredRow | null, limit: number): Promise<StoredRow[]> {
    const select = `SELECT ${[...plainColumns(table), ...headColumns(table)].join(', ')} FROM ${table.name}`;
    const order = `ORDER BY ${table.key.join(', ')} LIMIT ?`;
    if (!after) return this.database.query(`${select} ${order}`, [limit]);
    const rows: StoredRow[] = [];
    // (a, b) > (x, y) as several queries that each use the index: first the rest of a = x, then a > x.
    for (let depth = table.key.length; depth > 0 && rows.length < limit; depth--) {
      const key = table.key.slice(0, depth);
      const where = key.map((name, at) => `${name} ${at === depth - 1 ? '>' : '='} ?`).join(' AND ');
      const params = [...valuesOf(after, key), limit - rows.length];
      rows.push(...(await this.database.query<StoredRow>(`${select} WHERE ${where} ${order}`, params)));
    }
    return rows;
  }

  /** The rows with the highest keys, with only the heads of their texts. */
  async newest(table: SealedTable, limit: number): Promise<StoredRow[]> {
    const columns = [...plainColumns(table), ...headColumns(table)].join(', ');
    const order = table.key.map((name) => `${name} DESC`).join(', ');
    return this.database.query(`SELECT ${columns} FROM ${table.name} ORDER BY ${order} LIMIT ?`, [limit]);
  }

  /** The stored check values of keys, by key id. */
  async keyChecks(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.database.query<{ name: string; value: string }>(
      `SELECT name, value FROM jackdaw_property WHERE name LIKE '${KEY_CHECK}%'`,
    );
    return new Map(rows.map(({ name, value }) => [name.slice(KEY_CHECK.length), value]));
  }

  /** Stores check values of keys that have none. */
  async storeKeyChecks(checks: ReadonlyMap<string, string>): Promise<void> {
    const rows = [...checks].map(([id, value]) => ({ name: `${KEY_CHECK}${id}`, value }));
    await this.commit(rows.map((row) => this.database.insertIgnore('jackdaw_property', row)));
  }

  /** The row with the highest key, with whole texts. */
  async last(table: SealedTable): Promise<StoredRow | null> {
    const order = `ORDER BY ${table.key.map((name) => `${name} DESC`).join(', ')} LIMIT 1`;
    const columns = [...plainColumns(table), ...table.columns.map(({ name }) => name)].join(', ');
    const [row] = await this.database.query<StoredRow>(`SELECT ${columns} FROM ${table.name} ${order}`);
    return row ?? null;
  }

  /** A row with whole texts; `null` if it was deleted. */
  async read(table: SealedTable, row: StoredRow): Promise<StoredRow | null> {
    const columns = [...plainColumns(table), ...table.columns.map(({ name }) => name)].join(', ');
    const sql = `SELECT ${columns} FROM ${table.name} WHERE ${isRow(table)}`;
    const [found] = await this.database.query<StoredRow>(sql, valuesOf(row, table.key));
    return found ?? null;
  }

  /** Statement that replaces a text, unless it has changed meanwhile. */
  replace(table: SealedTable, row: StoredRow, { column, from, to, also = {} }: Replacement): Statement {
    const columns = [column, ...Object.keys(also)].map((name) => `${name} = ?`).join(', ');
    return {
      sql: `UPDATE ${table.name} SET ${columns} WHERE ${isRow(table)} AND ${column} = ?`,
      params: [to, ...Object.values(also), ...valuesOf(row, table.key), from],
    };
  }

  /** Removes the previous texts from the database's files. */
  purge(): Promise<void> {
    return this.database.purge();
  }

  async commit(statements: readonly Statement[]): Promise<void> {
    if (statements.length > 0) await this.database.commit(statements);
  }
}

/**
 * Decrypts a column of a row to JSON text.
 * @throws AppError as `Cipher.open`
 */
export function openColumn(cipher: Cipher, { place, toJson }: SealedColumn, row: StoredRow, stored: string): string {
  return cipher.open(toJson && !stored.startsWith(SEALED) ? toJson(stored) : stored, place(row));
}

function plainColumns({ key, also = [] }: SealedTable): string[] {
  return [...key, ...also];
}

function headColumns({ columns }: SealedTable): string[] {
  return columns.map(({ name }) => `substr(${name}, 1, ${MAX_HEAD}) AS ${name}`);
}

function isRow({ key }: SealedTable): string {
  return key.map((name) => `${name} = ?`).join(' AND ');
}

function valuesOf(row: StoredRow, columns: readonly string[]): SqlValue[] {
  return columns.map((name) => row[name] ?? null);
}
