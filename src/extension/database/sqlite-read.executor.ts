/**
 * The process in which SQLite is read: no thread that is in the midst of a statement can be ended, a process can. It has
 * an environment without variables, and opens the file anew, read-only, for each read.
 */
import { createRequire } from 'node:module';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import type { SqliteAnswer, SqliteReply, SqliteRequest } from './sqlite-read.types.js';

/** What we use of a handle; the package ships no declarations. */
interface Handle {
  pragma(pragma: string, options?: { readonly simple: true }): unknown;
  prepare(sql: string): Statement;
  close(): unknown;
}

interface Statement {
  /** Whether it gives rows. */
  readonly reader: boolean;
  readonly readonly: boolean;
  raw(): Statement;
  safeIntegers(): Statement;
  columns(): { readonly name: string }[];
  iterate(...parameters: unknown[]): Iterable<unknown[]>;
}

const Sqlite = createRequire(import.meta.url)('better-sqlite3') as new (file: string, options: object) => Handle;
const HEAP_BYTES = 64 * 1024 * 1024;
const WATCH_MS = 500;
/** What is set for the process, and not for a connection: the next read would find it so. */
const LASTING = ['hard_heap_limit', 'soft_heap_limit', 'temp_store_directory'];

let begun: string | undefined;
let isSpoilt = false;

if (isMainThread) serve();
else watch(workerData as number);

function serve(): void {
  // Nobody else is there to end a statement that goes on when the parent was killed.
  // oxlint-disable-next-line no-new
  new Worker(new URL(import.meta.url), { workerData: process.ppid, execArgv: [] });
  process.on('disconnect', () => process.exit());
  process.on('message', (request: SqliteRequest) => {
    const answered = answer(request);
    process.send?.({ ...answered, isLast: isSpoilt } satisfies SqliteReply);
  });
  // Now requests are taken.
  process.send?.(null);
}

function watch(parent: number): void {
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
  }, WATCH_MS);
}

function answer({ file, sql, parameters, maxRows, maxBytes }: SqliteRequest): SqliteAnswer {
  let database: Handle | undefined;
  try {
    database = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: 1_000 });
    database.pragma('query_only = ON');
    database.pragma('trusted_schema = OFF');
    database.pragma(`hard_heap_limit = ${HEAP_BYTES}`);
    begun ??= lastingOf(database);
    const statement = database.prepare(sql);
    if (!statement.reader || !statement.readonly) {
      return { kind: 'refused', message: 'it does not only read: only a query (SELECT, WITH, VALUES …) may be run.' };
    }
    return readRows(statement.raw().safeIntegers(), parameters, { maxRows, maxBytes });
  } catch (error) {
    return { kind: 'refused', message: error instanceof Error ? error.message : String(error) };
  } finally {
    isSpoilt = database !== undefined && lastingOf(database) !== begun;
    database?.close();
  }
}

function lastingOf(database: Handle): string | undefined {
  try {
    return JSON.stringify(LASTING.map((name) => database.pragma(name, { simple: true }) ?? null));
  } catch {
    return undefined;
  }
}

function readRows(
  statement: Statement,
  parameters: SqliteRequest['parameters'],
  { maxRows, maxBytes }: Pick<SqliteRequest, 'maxRows' | 'maxBytes'>,
): SqliteAnswer {
  const columns = statement.columns().map(({ name }) => name);
  const rows: unknown[][] = [];
  let bytes = 0;
  // SQLite has no truth values.
  for (const cells of statement.iterate(
    ...parameters.map((value) => (typeof value === 'boolean' ? Number(value) : value)),
  )) {
    if (rows.length === maxRows) return { kind: 'rows', columns, rows, isCut: true };
    for (const cell of cells) bytes += sizeOf(cell);
    if (bytes > maxBytes) return { kind: 'too_large' };
    rows.push(cells);
  }
  return { kind: 'rows', columns, rows, isCut: false };
}

function sizeOf(cell: unknown): number {
  if (typeof cell === 'string') return Buffer.byteLength(cell);
  return cell instanceof Uint8Array ? cell.length : 8;
}
