import { closeSync, mkdirSync, openSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { DatabaseConfig } from '../config/namespaces/index.js';
import { AppError } from '../errors/index.js';
import { toOpenFailure } from './open-failure.error.js';

/** The file beside a database that identifies it. Hidden: a copy of `jackdaw.db*` or of `data/*` is without it. */
export function sidecarOf(file: string): string {
  return join(dirname(file), `.${basename(file)}.id`);
}

/**
 * Refuses to create a database where there was one: an empty database would hide the loss, and its backups would replace
 * good ones.
 * @param file the database
 * @throws AppError `CONFIG_INVALID` if the file is missing or empty and traces of an earlier one exist
 */
export function assertNotLost(file: string, config: DatabaseConfig): void {
  const size = sizeOf(file);
  if (config.allowsNew || (size !== null && size > 0)) return;
  const found = size === null ? tracesOfMissing(file, config) : tracesOfEmpty(file, config);
  if (found.length === 0) return;
  throw new AppError(
    'CONFIG_INVALID',
    `The database ${file} is ${size === null ? 'missing' : 'empty'}, but there are traces of an earlier one: ${found.join(', ')}. Nothing was created. Check that its volume is mounted, or restore the file from a backup; with ALLOW_NEW_DATABASE=true Jackdaw starts with an empty database.`,
  );
}

function tracesOfMissing(file: string, config: DatabaseConfig): string[] {
  const files = [`${file}-wal`, `${file}-shm`, `${file}-journal`, `${file}.lock`, sidecarOf(file)];
  return [...files.filter((path) => sizeOf(path) !== null), ...folders(config)];
}

/** A first start that was killed leaves an empty file with its lock and, for a moment, a journal. */
function tracesOfEmpty(file: string, config: DatabaseConfig): string[] {
  return [...[`${file}-wal`, sidecarOf(file)].filter((path) => sizeOf(path) !== null), ...folders(config)];
}

/** The folders of sessions and tool states that belong to the default database. */
function folders({ url, dataDir }: DatabaseConfig): string[] {
  if (url !== undefined) return [];
  return ['sessions', 'tool-states'].map((name) => join(dataDir, name)).filter(hasFiles);
}

function sizeOf(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.size ?? null;
}

/** A lock file alone is no data. */
function hasFiles(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => !name.startsWith('.'));
  } catch {
    return false;
  }
}

/**
 * Creates a missing folder and file with permissions for this user only. SQLite would create them readable for all
 * users, and gives its journals the permissions of the file. Existing permissions are unchanged.
 * @returns the path without symbolic links, so that a file has one lock under all its names
 */
export function prepareSqliteFile(file: string): string {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  makePrivateFile(file);
  return realpathSync(file);
}

export function makePrivateFile(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
}

/** SQLite's name of a database in memory. */
export const MEMORY = ':memory:';

/** The file of `DATABASE_URL`; by default `jackdaw.db` in the data folder. */
export function sqliteFile({ url, dataDir }: DatabaseConfig): string {
  return url ? url.replace(/^sqlite:(\/\/(?=\/|\.))?/, '') : join(dataDir, 'jackdaw.db');
}

/**
 * The database file without symbolic links, created if it is missing; `null` for one in memory.
 * @throws AppError `CONFIG_INVALID` when it cannot be created, was lost, or has a second name
 */
export function sqlitePlace(config: DatabaseConfig): string | null {
  const name = sqliteFile(config);
  if (name === MEMORY) return null;
  try {
    assertNotLost(name, config);
    const file = prepareSqliteFile(name);
    assertOneName(file);
    return file;
  } catch (error) {
    throw toOpenFailure(name, error);
  }
}

/** SQLite names its log after the file: under two names, two processes would use two logs and damage the data. */
function assertOneName(file: string): void {
  const { nlink } = statSync(file);
  if (nlink <= 1) return;
  throw new AppError(
    'CONFIG_INVALID',
    `The database ${file} has ${nlink} names (hard links). Under another name another process could open it and damage it: delete the other names (find them with \`find -samefile\`), or replace this file by a copy of it.`,
  );
}
