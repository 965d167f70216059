import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { AppError } from '../errors/index.js';
import { untilAborted } from '../kernel/index.js';
import type { ReadLimits } from './database-reader.js';
import { readCancelled, readTooLong } from './read.error.js';
import type { SqliteAnswer, SqliteReply, SqliteRequest } from './sqlite-read.executor.js';

/** The program of the process; in tests, TypeScript, which Node runs, too. Bundlers find the file by the second form. */
const SCRIPT = fileURLToPath(
  import.meta.url.endsWith('.ts')
    ? sourceOf('./sqlite-read.executor.ts')
    : new URL('./sqlite-read.executor.js', import.meta.url),
);

/** Maximum start time of the process, in ms. */
const START_MS = 10_000;

interface Reading {
  readonly child: ChildProcess;
  /** Resolves when the process accepts requests; rejects if it fails to start. */
  readonly ready: Promise<unknown>;
}

type AskLimits = Pick<ReadLimits, 'timeoutMs' | 'signal'>;

/** The process that reads SQLite: ready on demand, killed when a read takes too long, one read at a time. */
export class SqliteReadClient {
  private reading: Reading | null = null;
  private last: Promise<unknown> = Promise.resolve();
  private isClosed = false;

  constructor(
    private readonly script = SCRIPT,
    private readonly startMs = START_MS,
  ) {}

  /** @throws AppError `TOOL_FAILED` if the query exceeds its time limit, `TOOL_CANCELLED` */
  ask(request: SqliteRequest, limits: AskLimits): Promise<SqliteAnswer> {
    const result = this.last.then(() => this.askNow(request, limits));
    this.last = result.catch(() => undefined);
    return result;
  }

  /** Ends the process for good; queued reads fail. */
  close(): void {
    this.isClosed = true;
    this.kill();
  }

  private kill(): void {
    this.reading?.child.kill('SIGKILL');
    this.reading = null;
  }

  private async askNow(request: SqliteRequest, { timeoutMs, signal }: AskLimits): Promise<SqliteAnswer> {
    const child = await this.ready(signal);
    return new Promise((resolve, reject) => {
      const end = (error: Error) => {
        cleanUp();
        this.kill();
        reject(error);
      };
      const answered = ({ isLast, ...answer }: SqliteReply) => {
        cleanUp();
        if (isLast) this.kill();
        resolve(answer);
      };
      const cancelled = () => end(readCancelled());
      const exited = () => end(ended());
      const timer = setTimeout(() => end(readTooLong(timeoutMs)), timeoutMs);
      const cleanUp = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', cancelled);
        child.off('message', answered).off('exit', exited).off('error', exited);
      };
      if (signal.aborted) return cancelled();
      signal.addEventListener('abort', cancelled, { once: true });
      child.on('message', answered).on('exit', exited).on('error', exited);
      child.send(request);
    });
  }

  /**
   * The process, when it accepts requests. A process that still starts when its read is cancelled serves the next read.
   */
  private async ready(signal: AbortSignal): Promise<ChildProcess> {
    if (signal.aborted) throw readCancelled();
    if (this.isClosed) throw closed();
    const { child, ready } = (this.reading ??= this.start());
    try {
      await untilAborted(ready, signal);
    } catch (error) {
      throw signal.aborted ? readCancelled() : error;
    }
    return child;
  }

  private start(): Reading {
    const child = fork(this.script, [], {
      env: {},
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const forget = () => {
      if (this.reading?.child === child) this.reading = null;
    };
    const { promise: ready, resolve, reject } = Promise.withResolvers<unknown>();
    const late = setTimeout(() => {
      reject(notStarted(this.startMs));
      child.kill('SIGKILL');
    }, this.startMs);
    child.once('message', resolve).once('error', reject);
    child.once('exit', () => reject(ended())).once('exit', forget);
    void ready.catch(forget).finally(() => clearTimeout(late));
    return { child, ready };
  }
}

function sourceOf(file: string): URL {
  return new URL(file, import.meta.url);
}

function ended(): AppError {
  return new AppError('TOOL_FAILED', 'The SQLite read process ended before it answered: try again.');
}

function notStarted(ms: number): AppError {
  return new AppError('TOOL_FAILED', `The SQLite read process did not start within ${ms} ms: try again.`);
}

function closed(): AppError {
  return new AppError('TOOL_FAILED', 'The database is closed, because the application is shutting down.');
}
