import type { INestApplicationContext } from '@nestjs/common';
import { isManagedWorker, workerNumber } from '../config/index.js';
import { databaseConfig, type DatabaseConfig } from '../config/namespaces/index.js';
import { Log } from '../errors/index.js';
import { Database } from '../persistence/index.js';
import { END_SIGNALS } from './end-signal.js';

const logger = new Log('Process');

/** The signals that end this server. Ctrl+C reaches the supervisor too, so its workers end only when it ends them. */
export function endSignals(): string[] {
  return workerNumber() === undefined ? END_SIGNALS : ['SIGTERM'];
}

/**
 * Ends the process of a server, with the exit code 1: after a drain if the database cannot be used until a restart, and
 * without waiting any longer if a stop takes too long. A supervisor then restarts it.
 * @param graceMs time of a worker of pm2 or node:cluster before its stop
 * @returns a function that removes the listeners
 */
export function endWhenStuck(app: INestApplicationContext, graceMs: number): () => void {
  const database = app.get(Database, { strict: false });
  const { stopLimitMs: limitMs } = app.get<DatabaseConfig>(databaseConfig.KEY, { strict: false });
  const limit = () => void setTimeout(() => end(database, limitMs), limitMs).unref();
  const limitStop = isManagedWorker() ? () => void setTimeout(limit, graceMs).unref() : limit;
  for (const signal of endSignals()) process.once(signal, limitStop);
  database.onFailure(() => {
    limit();
    void app
      .close()
      .catch(() => undefined)
      .finally(() => process.exit(1));
  });
  return () => {
    for (const signal of endSignals()) process.off(signal, limitStop);
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
