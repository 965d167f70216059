/**
 * The process that reads SQLite. A thread that executes a statement cannot be stopped; a process can be killed. It has
 * an empty environment and opens the file read-only for each read.
 */
import { createRequire } from 'node:module';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

/** A request to the read process. */
export interface SqliteRequest {
  readonly file: string;
  readonly sql: string;
  readonly parameters: readonly (string | number | boolean | null)[];
  readonly maxRows: number;
  readonly maxBytes: number;
}

/** `isLast`: the read has changed process-wide settings; the process must not serve another read. */
export type SqliteReply = SqliteAnswer & { readonly isLast?: boolean };

/** The process's answer; `message` is for the model. */
export type SqliteAnswer =
  | {
      readonly kind: 'rows';
      readonly columns: readonly string[];
      readonly rows: readonly (readonly unknown[])[];
      readonly isCut: boolean;
    }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'too_large' };

/** The part of a handle that we use; the package has no type declarations. */
interface Handle {
  pragma(pragma: string, options?: { readonly simple: true }): unknown;
  prepare(sql: string): Statement;
  close(): unknown;
}

interface Statement {
  /** Whether it returns rows. */
  readonly reader: boolean;
  readonly readonly: boolean;
  raw(): Statement;
  safeIntegers(): Statement;
  columns(): { readonly name: string }[];
  iterate(...parameters: unknown[]): Iterable<unknown[]>;
}

const Sqlite = createRequire(import.meta.url)('better-sqlite3-v13') as new (file: string, options: object) => Handle;
const HEAP_BYTES = 64 * 1024 * 1024;
const WATCH_MS = 500;
/** Settings of the whole process, which would affect the next read. */
const PROCESS_SETTINGS = ['hard_heap_limit', 'soft_heap_limit', 'temp_store_directory'];

let initialSettings: string | undefined;
let isTainted = false;

if (isMainThread) serve();
else watch(workerData as number);

function serve(): void {
  // A worker ends a running statement if the parent was killed.
  // oxlint-disable-next-line no-new
  new Worker(new URL(import.meta.url), { workerData: process.ppid, execArgv: [] });
  process.on('disconnect', () => process.exit());
  process.on('message', (request: SqliteRequest) => {
    const answered = answer(request);
    process.send?.({ ...answered, isLast: isTainted } satisfies SqliteReply);
  });
  // Reports that requests are accepted.
  process.send?.(null);
}

function watch(parent: number): void {
  setInterval(() => {
    // Node runs this file alone, also before it is compiled, so that it imports no other file of ours.
    // oxlint-disable-next-line no-restricted-properties
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
    initialSettings ??= settingsOf(database);
    const statement = database.prepare(sql);
    if (!statement.reader || !statement.readonly) {
      return { kind: 'refused', message: 'it is not read-only: only queries (SELECT, WITH, VALUES …) are allowed.' };
    }
    return readRows(statement.raw().safeIntegers(), parameters, { maxRows, maxBytes });
  } catch (error) {
    return { kind: 'refused', message: error instanceof Error ? error.message : String(error) };
  } finally {
    isTainted = database !== undefined && settingsOf(database) !== initialSettings;
    database?.close();
  }
}

function settingsOf(database: Handle): string | undefined {
  try {
    return JSON.stringify(PROCESS_SETTINGS.map((name) => database.pragma(name, { simple: true }) ?? null));
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
  // SQLite has no booleans.
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
