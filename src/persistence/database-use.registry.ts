import { Log } from '../errors/index.js';
import { holdProcess, isDoneWithin } from '../kernel/index.js';

/** A wait of this length is logged, in ms. */
const LONG_WAIT_MS = 500;

/** One application's use of a database. */
export interface DatabaseUse {
  /** The application stops. @param limitMs time after which others no longer wait for its end */
  stop(limitMs: number): void;
  end(): void;
}

/** The applications of this process that use one database. */
interface Users {
  /** Those that do not stop. */
  staying: number;
  readonly stops: Set<Promise<unknown>>;
}

const USERS = new Map<string, Users>();
const logger = new Log('Database');

/**
 * Registers an application of this process as a user of a database. If all others stop, it waits for them first: it
 * may replace them, as after a hot update, and then needs their port and their runs.
 * @param key location of the database @param name its name in the log
 */
export async function useDatabase(key: string, name: string): Promise<DatabaseUse> {
  for (;;) {
    const users = USERS.get(key) ?? { staying: 0, stops: new Set() };
    if (users.staying > 0 || users.stops.size === 0) return addUser(key, users);
    await holdProcess(untilStopped(users, name));
  }
}

async function untilStopped({ stops }: Users, name: string): Promise<void> {
  const stopped = Promise.all(stops);
  if (await isDoneWithin(LONG_WAIT_MS, stopped)) return;
  logger.log(`The application waits for another one of this process, which stops and uses the database ${name}`);
  await stopped;
}

function addUser(key: string, users: Users): DatabaseUse {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let isStaying = true;
  USERS.set(key, users);
  users.staying++;
  const leave = () => {
    if (isStaying) users.staying--;
    isStaying = false;
  };
  const removeUnused = () => {
    if (users.staying === 0 && users.stops.size === 0 && USERS.get(key) === users) USERS.delete(key);
  };
  return {
    stop(limitMs) {
      if (!isStaying) return;
      leave();
      const stop = isDoneWithin(limitMs, ended).finally(() => {
        users.stops.delete(stop);
        removeUnused();
      });
      users.stops.add(stop);
    },
    end() {
      leave();
      end();
      removeUnused();
    },
  };
}
