import { createRequire } from 'node:module';

/** The used part of a better-sqlite3 handle; the package has no type declarations. */
export interface SqliteStatement {
  run(...params: unknown[]): { changes: number };
  all(...params: unknown[]): unknown[];
}

export interface SqliteHandle {
  /** The file's path. */
  readonly name: string;
  readonly memory: boolean;
  readonly inTransaction: boolean;
  prepare(sql: string): SqliteStatement;
  pragma(pragma: string): unknown;
  exec(sql: string): unknown;
  close(): unknown;
}

export type SqliteDriver = new (path: string, options: { timeout: number }) => SqliteHandle;

/**
 * The only SQLite of the process. TypeORM has another version where an application installs Jackdaw as a package, and
 * two copies in one process drop each other's file locks (sqlite.org/howtocorrupt.html, 2.2.1).
 */
export function loadSqliteDriver(): SqliteDriver {
  return createRequire(import.meta.url)('better-sqlite3-v13') as SqliteDriver;
}

/** A row of more than a quarter of a page occupies further pages alone, such as a turn of 1 KB one of 4 KB. */
export const PAGE_BYTES = 8192;
