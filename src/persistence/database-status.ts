import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { existsSync } from 'node:fs';
import type { DatabaseConfig } from '../config/namespaces/index.js';
import { AppError } from '../errors/index.js';
import type { Database } from './database.js';
import { isLocked } from './database-ownership.js';
import type { PersistenceOptions } from './persistence.types.js';
import { openPersistence } from './shared-persistence.registry.js';
import { MEMORY, sqliteFile } from './sqlite-place.js';
import { parseServerUrl } from './server-url.parser.js';

/** Longest wait for a write, in ms. */
const WRITE_MS = 5_000;

/** The state of a database, read without a migration. */
export interface DatabaseStatus {
  /** Its name, without credentials. */
  readonly name: string;
  /** `new`: it will be created; `locked`: another process owns it; `outdated`: it needs the migrations of `pending`. */
  readonly state: 'ready' | 'new' | 'locked' | 'outdated';
  readonly pending: readonly string[];
  /** Difference of its clock to that of this process, in ms; `null` for a database of this machine. */
  readonly clockMs: number | null;
}

/** The name of the configured database, without credentials. */
export function databaseName(config: DatabaseConfig): string {
  switch (config.kind) {
    case 'sqlite':
      return sqliteFile(config);
    case 'postgres':
      return `PostgreSQL ${parseServerUrl(config, 5432).name}`;
    case 'mariadb':
      return `MariaDB ${parseServerUrl(config, 3306).name}`;
  }
}

/**
 * Checks that the database answers, that its schema is current and that it can be written to. It changes nothing but the
 * row of the write test.
 * @throws AppError `CONFIG_INVALID`, `STORAGE_UNAVAILABLE` if it cannot be used
 */
export async function readDatabaseStatus(config: DatabaseConfig, options: PersistenceOptions): Promise<DatabaseStatus> {
  const found = { name: databaseName(config), pending: [], clockMs: null };
  if (await isNew(config)) return { ...found, state: 'new' };
  try {
    const opened = await openPersistence(config, { ...options, migrates: false });
    try {
      await opened.database.proveWrite(WRITE_MS);
      return { ...found, state: 'ready', clockMs: await clockDifference(opened.database) };
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (isLocked(error)) return { ...found, state: 'locked' };
    const pending = error instanceof AppError ? error.details?.['pending'] : undefined;
    if (Array.isArray(pending)) return { ...found, state: 'outdated', pending: pending as string[] };
    throw error;
  }
}

/** @throws an error of the file system if the file cannot be created */
async function isNew(config: DatabaseConfig): Promise<boolean> {
  if (config.kind !== 'sqlite') return false;
  const file = sqliteFile(config);
  if (file === MEMORY) return true;
  if (existsSync(file)) return false;
  let folder = dirname(file);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  await access(folder, constants.W_OK);
  return true;
}

/** Half of the time of the query counts as its delay. */
async function clockDifference(database: Database): Promise<number | null> {
  if (database.dialect === 'sqlite') return null;
  const sql =
    database.dialect === 'postgres'
      ? 'SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS double precision) AS ms'
      : 'SELECT CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS DOUBLE) AS ms';
  const before = Date.now();
  const [row] = await database.query<{ ms: number | string }>(sql);
  const middle = (before + Date.now()) / 2;
  return Math.round(Number(row?.ms) - middle);
}

/**
 * Applies the pending migrations.
 * @returns their names
 * @throws AppError as `openPersistence`
 */
export async function migrateDatabase(config: DatabaseConfig, options: PersistenceOptions): Promise<readonly string[]> {
  const applied: string[] = [];
  const opened = await openPersistence(config, {
    ...options,
    migrates: true,
    onMigrated: (names) => applied.push(...names),
  });
  await opened.close();
  return applied;
}
