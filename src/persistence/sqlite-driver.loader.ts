import { createRequire } from 'node:module';
import type { SqliteHandle } from './sqlite-handle.types.js';

export type SqliteDriver = new (path: string, options: { timeout: number }) => SqliteHandle;

/**
 * The one SQLite of the process, ours: TypeORM has another version beside it where an application installs Jackdaw as a package, and
 * two of them in one process drop each other's file locks (sqlite.org/howtocorrupt.html, 2.2.1).
 */
export function loadSqliteDriver(): SqliteDriver {
  return createRequire(import.meta.url)('better-sqlite3') as SqliteDriver;
}
