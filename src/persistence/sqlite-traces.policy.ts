import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { DatabaseConfig } from '../config/index.js';
import { AppError } from '../errors/index.js';

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
