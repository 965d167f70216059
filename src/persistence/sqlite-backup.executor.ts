import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { DatabaseConfig } from '../config/namespaces/index.js';
import { AppError } from '../errors/index.js';
import { MIGRATIONS } from './migration.executor.js';
import { toOpenFailure } from './open-failure.error.js';
import { checkSqliteFile } from './sqlite-check.executor.js';
import { PAGE_BYTES, loadSqliteDriver } from './sqlite-handle.js';
import { makePrivateFile, MEMORY, prepareSqliteFile, sidecarOf, sqliteFile } from './sqlite-place.js';
import { lockFile, ownSqliteFile } from './sqlite-lock.factory.js';

/** Longest check of a backup, in ms. */
const CHECK_MS = 3_600_000;
/** Longest wait for another process's lock, in ms. */
const BUSY_TIMEOUT_MS = 10_000;

/**
 * Writes a consistent copy of the SQLite file into a new file, also while a server writes to it, and checks the copy.
 * The copy appears under its name when it is complete and durable. Blocks the event loop.
 * @returns the size of the copy, in bytes
 * @throws AppError `CONFIG_INVALID` for a missing database, an existing file and a failed check
 */
export async function backUpSqlite(config: DatabaseConfig, file: string): Promise<number> {
  const source = existingFile(config);
  if (existsSync(file)) throw invalid(`The file ${file} exists: name another one, or remove it`);
  const draft = `${file}.part`;
  rmSync(draft, { force: true });
  try {
    makePrivateFile(draft);
    copyInto(source, draft);
    await check(draft);
    makeDurable(draft);
    renameSync(draft, file);
    makeDurable(dirname(file));
    return statSync(file).size;
  } catch (error) {
    rmSync(draft, { force: true });
    throw toOpenFailure(file, error);
  }
}

function copyInto(source: string, target: string): void {
  const Sqlite = loadSqliteDriver();
  // Not read-only: without a running server SQLite must create the files of the log.
  const handle = new Sqlite(source, { timeout: BUSY_TIMEOUT_MS });
  try {
    // A copy of an older file gets the pages of a new one.
    handle.pragma(`page_size = ${PAGE_BYTES}`);
    handle.prepare('VACUUM INTO ?').run(target);
  } finally {
    handle.close();
  }
}

/** The outcome of a restore. */
export interface RestoredFile {
  readonly file: string;
  /** The former database, if there was one. */
  readonly former: string | null;
}

/**
 * Puts a checked copy of a backup in place of the SQLite file. The former file gets another name. The next start
 * recognises the file as a copy, and its open runs wait.
 * @param isForced whether an existing database is replaced
 * @throws AppError `DATABASE_LOCKED` while a process owns the database, `CONFIG_INVALID` for a backup that is no intact
 *   database of Jackdaw, and for an existing database
 */
export async function restoreSqlite(config: DatabaseConfig, backup: string, isForced: boolean): Promise<RestoredFile> {
  const name = fileOf(config);
  if (!existsSync(backup)) throw invalid(`The backup ${backup} does not exist`);
  await check(backup);
  assertOurs(backup);
  const isThere = (statSync(name, { throwIfNoEntry: false })?.size ?? 0) > 0;
  const file = prepareSqliteFile(name);
  const release = isThere ? await ownSqliteFile(file) : lockFile(`${file}.lock`, `The database ${file} is in use.`);
  try {
    if (isThere && !isForced) {
      throw invalid(`The database ${file} exists: use --force to replace it; it is moved aside, not deleted`);
    }
    return { file, former: replace(file, backup, isThere) };
  } finally {
    release();
  }
}

/** @returns the new name of the former database */
function replace(file: string, backup: string, isThere: boolean): string | null {
  const draft = `${file}.restored`;
  rmSync(draft, { force: true });
  makePrivateFile(draft);
  copyFileSync(backup, draft);
  makeDurable(draft);
  const former = isThere ? `${file}.before-restore-${Date.now()}` : null;
  if (former !== null) moveAside(file, former);
  rmSync(sidecarOf(file), { force: true });
  renameSync(draft, file);
  makeDurable(dirname(file));
  return former;
}

/** Moves the database with its log, which belongs to its name. */
function moveAside(file: string, former: string): void {
  for (const suffix of ['-wal', '-shm', '-journal', '']) {
    if (existsSync(`${file}${suffix}`)) renameSync(`${file}${suffix}`, `${former}${suffix}`);
  }
}

function assertOurs(file: string): void {
  const Sqlite = loadSqliteDriver();
  const handle = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    const found = handle.prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?`).all(MIGRATIONS);
    if (found.length === 0) throw invalid(`${file} is no database of Jackdaw`);
  } catch (error) {
    throw toOpenFailure(file, error);
  } finally {
    handle.close();
    for (const suffix of ['-wal', '-shm']) removeEmpty(join(dirname(file), `${basename(file)}${suffix}`));
  }
}

function removeEmpty(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.size === 0) rmSync(file);
}

async function check(file: string): Promise<void> {
  const warning = await checkSqliteFile(file, CHECK_MS);
  if (warning !== null) throw invalid(warning.replace(/\.$/, ''));
}

function makeDurable(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function fileOf(config: DatabaseConfig): string {
  const name = sqliteFile(config);
  if (name === MEMORY) throw invalid('A database in memory has no file');
  return name;
}

function existingFile(config: DatabaseConfig): string {
  const file = fileOf(config);
  if (!existsSync(file)) throw invalid(`The database ${file} does not exist: check ${config.variableNames.DATA_DIR}`);
  return file;
}

function invalid(text: string): AppError {
  return new AppError('CONFIG_INVALID', `${text}.`);
}
