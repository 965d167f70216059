import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { AppError } from '../../common/index.js';
import type { ReadLimits } from './database-reader.js';
import { readCancelled, readTooLong } from './read.error.js';
import type { SqliteAnswer, SqliteRequest } from './sqlite-read.types.js';

/** Beside this file, compiled as it is or, in development, not: Node runs both. */
const SCRIPT = fileURLToPath(
  new URL(`./sqlite-read.executor.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url),
);

interface Reading {
  readonly child: ChildProcess;
  /** Resolves when it takes requests; rejects when it cannot. */
  readonly ready: Promise<unknown>;
}

type AskLimits = Pick<ReadLimits, 'timeoutMs' | 'signal'>;

/** The process that reads SQLite: begun when it is needed, killed when a read takes too long, one read at a time. */
export class SqliteReadClient {
  private reading: Reading | null = null;
  private last: Promise<unknown> = Promise.resolve();

  /** @throws AppError `TOOL_FAILED` when it takes too long, `TOOL_CANCELLED` */
  ask(request: SqliteRequest, limits: AskLimits): Promise<SqliteAnswer> {
    const asked = this.last.then(() => this.askNow(request, limits));
    this.last = asked.catch(() => undefined);
    return asked;
  }

  close(): void {
    this.reading?.child.kill('SIGKILL');
    this.reading = null;
  }

  private async askNow(request: SqliteRequest, { timeoutMs, signal }: AskLimits): Promise<SqliteAnswer> {
    if (signal.aborted) throw readCancelled();
    const { child, ready } = (this.reading ??= this.begin());
    await ready;
    return new Promise((resolve, reject) => {
      const end = (error: Error) => {
        leave();
        this.close();
        reject(error);
      };
      const answered = (answer: SqliteAnswer) => {
        leave();
        resolve(answer);
      };
      const cancelled = () => end(readCancelled());
      const gone = () => end(ended());
      const timer = setTimeout(() => end(readTooLong(timeoutMs)), timeoutMs);
      const leave = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', cancelled);
        child.off('message', answered).off('exit', gone).off('error', gone);
      };
      if (signal.aborted) return cancelled();
      signal.addEventListener('abort', cancelled, { once: true });
      child.on('message', answered).on('exit', gone).on('error', gone);
      child.send(request);
    });
  }

  private begin(): Reading {
    const child = fork(SCRIPT, [], {
      env: {},
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const ready = new Promise((resolve, reject) => {
      child.once('message', resolve);
      child.once('error', reject);
      child.once('exit', () => reject(ended()));
    });
    child.once('exit', () => {
      if (this.reading?.child === child) this.reading = null;
    });
    return { child, ready };
  }
}

function ended(): AppError {
  return new AppError('TOOL_FAILED', 'The process that reads SQLite ended before it answered: try again.');
}
