import { createRequire } from 'node:module';
import type { SqliteHandle } from './sqlite-handle.types.js';

export type SqliteDriver = new (path: string, options: { timeout: number }) => SqliteHandle;

/**
 * The only SQLite of the process. TypeORM has another version where an application installs Jackdaw as a package, and
 * two copies in one process drop each other's file locks (sqlite.org/howtocorrupt.html, 2.2.1).
 */
export function loadSqliteDriver(): SqliteDriver {
  return createRequire(import.meta.url)('better-sqlite3-v13') as SqliteDriver;
}
