import type { DatabaseConfig } from '../config/index.js';
import { type AppError, Log } from '../errors/index.js';
import { holdProcess } from '../kernel/index.js';
import { AwaitedDatabase } from './awaited-database.js';
import { DatabaseOwnership, isLocked } from './database-ownership.js';
import type { OpenPersistence, UsedPersistence } from './persistence.types.js';

/** A database of one process. */
export interface OwnedPlace {
  /** Its name in messages. */
  readonly name: string;
  readonly config: DatabaseConfig;
  /** Fails with `DATABASE_LOCKED` while another process owns the database. */
  readonly open: () => Promise<OpenPersistence>;
}

const logger = new Log('Database');

/**
 * Opens a database of one process, by the rule `whenLocked` if another process owns it: `fail` fails, `wait` waits until
 * that process has had time to end, and `defer` returns a database whose calls wait or fail.
 * @throws AppError `DATABASE_LOCKED`
 */
export async function openOwned(place: OwnedPlace): Promise<UsedPersistence> {
  const ownership = new DatabaseOwnership(place.open);
  try {
    return await ownership.opened(0);
  } catch (error) {
    const { whenLocked } = place.config;
    if (!isLocked(error) || whenLocked === 'fail') throw error;
    return whenLocked === 'wait' ? awaitOwner(place, ownership) : defer(place, ownership, error);
  }
}

async function awaitOwner(
  { name, config: { lockWaitMs } }: OwnedPlace,
  ownership: DatabaseOwnership,
): Promise<OpenPersistence> {
  logger.warn(`waiting for the database ${name}: another process owns it (at most ${lockWaitMs / 1000} s)`);
  // The application's log does not exist yet, and the line is of use only during the wait.
  Log.flush();
  return holdProcess(ownership.opened(lockWaitMs));
}

function defer({ name, config }: OwnedPlace, ownership: DatabaseOwnership, locked: AppError): UsedPersistence {
  logger.warn(
    `The database ${name} belongs to another running Jackdaw. Until that one stops, calls of Jackdaw fail with ${locked.code}`,
  );
  const database = new AwaitedDatabase(config.kind, config.kind === 'sqlite', ownership);
  void database.onceOpen(async () => {
    logger.log(`The database ${name} is free: this process owns it now`);
    for (const warning of (await ownership.opened(0)).warnings) logger.warn(warning);
  });
  // An owner that is being replaced ends soon. Later only calls try again.
  void database.becomeOwner(config.lockWaitMs).catch(() => undefined);
  const endWaits = () => ownership.endWaits();
  return { database, notifications: null, warnings: [], endWaits, close: () => database.close() };
}
