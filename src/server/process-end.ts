import type { INestApplicationContext } from '@nestjs/common';
import { constants } from 'node:os';
import { databaseConfig, type DatabaseConfig } from '../config/index.js';
import { Log } from '../errors/index.js';
import { Database } from '../persistence/index.js';

/** The signals that end the server after a drain. SIGHUP: the terminal was closed; SIGBREAK: Ctrl+Break on Windows. */
export const END_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGBREAK'];

/** Ctrl+C reaches the process from the terminal and, a moment later, again from npm, in ms. */
const ECHO_MS = 20;

/**
 * Calls `onFirst` at the first of these signals. A second SIGTERM or SIGINT ends the process at once, with the exit code
 * of that signal: 143 or 130.
 * @returns a function that removes the listeners, unless a signal ends the process already
 */
export function onEndSignal(onFirst: () => void): () => void {
  let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined;
  const receive = (signal: NodeJS.Signals) => {
    if (first === undefined) {
      first = { signal, at: performance.now() };
      onFirst();
      return;
    }
    const isEcho = signal === 'SIGINT' && first.signal === signal && performance.now() - first.at < ECHO_MS;
    if ((signal === 'SIGTERM' || signal === 'SIGINT') && !isEcho) process.exit(128 + constants.signals[signal]);
  };
  for (const signal of END_SIGNALS) process.on(signal, receive);
  return () => {
    if (first === undefined) for (const signal of END_SIGNALS) process.off(signal, receive);
  };
}

const logger = new Log('Process');

/**
 * Ends the process of a server, with the exit code 1: after a drain if the database cannot be used until a restart, and
 * without waiting any longer if a stop takes too long. A supervisor then restarts it.
 * @returns a function that removes the listeners
 */
export function endWhenStuck(app: INestApplicationContext): () => void {
  const database = app.get(Database, { strict: false });
  const { stopLimitMs: limitMs } = app.get<DatabaseConfig>(databaseConfig.KEY, { strict: false });
  const limit = () => void setTimeout(() => end(database, limitMs), limitMs).unref();
  for (const signal of END_SIGNALS) process.once(signal, limit);
  database.onFailure(() => {
    limit();
    void app
      .close()
      .catch(() => undefined)
      .finally(() => process.exit(1));
  });
  return () => {
    for (const signal of END_SIGNALS) process.off(signal, limit);
  };
}

function end(database: Database, limitMs: number): void {
  const { outage } = database;
  const cause = outage === null ? 'open connections or running work' : `the database (${outage})`;
  logger.fatal(
    `The stop did not finish within ${limitMs} ms; it waited for ${cause}. Unfinished runs resume at the next start`,
  );
  process.exit(1);
}
