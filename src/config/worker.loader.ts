import cluster from 'node:cluster';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseEnvFile } from './env-file.parser.js';

// Read before the configuration, by the entry point and the supervisor: no import of Nest or zod.

type Variables = Readonly<Record<string, string | undefined>>;

/** The variable with the number of a worker and the folder for its socket, which the supervisor gives it: `2:/tmp/jackdaw-x`. */
export const WORKER_VARIABLE = 'JACKDAW_WORKER';
export const MOST_WORKERS = 256;

/** Parses `WORKERS`: a number of processes, or `auto`. @returns undefined for an invalid text */
export function parseWorkers(text: string): number | 'auto' | undefined {
  if (text === 'auto') return text;
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  return count >= 1 && count <= MOST_WORKERS ? count : undefined;
}

/** The number of this process among the workers of its supervisor, from 1; undefined in other processes. */
export function workerNumber(): number | undefined {
  return workerPlace()?.number;
}

/** The number of this worker, and the folder for its socket; undefined in other processes. */
export function workerPlace(): { readonly number: number; readonly folder: string } | undefined {
  const [, number, folder = ''] = /^(\d+):(.+)$/s.exec((cluster.isWorker && process.env[WORKER_VARIABLE]) || '') ?? [];
  return number === undefined ? undefined : { number: Number(number), folder };
}

/** Whether pm2 or another program with node:cluster started this process: its other workers have the same port. */
export function isManagedWorker(): boolean {
  return cluster.isWorker && workerNumber() === undefined;
}

/**
 * The number of workers that this process shall start: 1 means that it serves itself. Errors also count as 1, since the
 * process that serves reads the whole configuration and reports all errors.
 * @param overrides variables given in code @param hasFile whether `.env` is read
 */
export function workersToStart(overrides: Variables = {}, hasFile = true): number {
  if (cluster.isWorker) return 1;
  const sources = [overrides, process.env, ...(hasFile ? [envFile()] : [])];
  return workersIn(parseWorkers(valueIn(sources, 'WORKERS') ?? '') ?? 1);
}

/**
 * The folder in which Node stores compiled code for later starts: beside the database file, where no other user can change the
 * code. A start that finds no code there is slower, so a folder without a database, which may end with its container, has none.
 */
export function compileCacheFolder(): string | undefined {
  const folder = valueIn([process.env, envFile()], 'DATA_DIR') || './data';
  return existsSync(join(folder, 'jackdaw.db')) ? join(folder, 'compile-cache') : undefined;
}

/** @returns the number of processes; for `auto` that of the cores that this process may use, also in a container */
export function workersIn(workers: number | 'auto'): number {
  return workers === 'auto' ? availableParallelism() : workers;
}

/** The first value of a variable. An empty value counts, so that it hides that of a later source. */
function valueIn(sources: readonly Variables[], name: string): string | undefined {
  for (const source of sources) {
    const prefixed = source[`JACKDAW_${name}`];
    const value = prefixed?.trim() || (source[name] ?? prefixed)?.trim();
    if (value !== undefined) return value;
  }
  return undefined;
}

function envFile(): Variables {
  try {
    return parseEnvFile(readFileSync('.env', 'utf8').replace(/^\uFEFF/, '')).values;
  } catch {
    return {};
  }
}
