import { AppError } from '../errors/index.js';
import type { EnvRecord } from '../config/index.js';

/** Store of an agent's conversations; the sessions themselves stay in the journal's database. */
export interface MemoryPersistence {
  /** False: conversations end with the process. */
  readonly enabled: boolean;
  /** `file`: in `DATA_DIR`. `database` and `redis`: at `config.url`. */
  readonly driver?: 'file' | 'database' | 'redis';
  readonly config?: {
    /** By default the database of the runs, or `REDIS_URL`. A URL as in `SESSION_STORE`. */
    readonly url?: string;
  };
}

const DRIVERS: readonly unknown[] = ['file', 'database', 'redis'];

const STORE_NAMES = ['SESSION_STORE', 'JACKDAW_SESSION_STORE', 'JACKDAW_SESSION_STORE_FILE'];

/**
 * The variables of a persistence.
 * @param env the other variables given in code
 * @throws AppError `AGENT_INVALID`
 */
export function toStoreEnv(persistence: MemoryPersistence | undefined, env: EnvRecord): EnvRecord {
  if (persistence === undefined) return {};
  const problem = problemOf(persistence);
  if (problem !== undefined) throw new AppError('AGENT_INVALID', `createAgent: memory.persistence${problem}.`);
  const twice = STORE_NAMES.find((name) => env[name] !== undefined);
  if (twice !== undefined) {
    const message = `createAgent: memory.persistence and config.${twice} are the same option: give one of them.`;
    throw new AppError('AGENT_INVALID', message);
  }
  const { enabled, driver, config } = persistence;
  return { SESSION_STORE: enabled ? (config?.url ?? driver!) : 'memory', SESSION_STORE_FILE: '' };
}

function problemOf(persistence: MemoryPersistence): string | undefined {
  const { enabled, driver, config = {}, ...unknown } = persistence;
  const [other] = [...Object.keys(unknown), ...Object.keys(config).filter((key) => key !== 'url')];
  if (other !== undefined) return ` has an unknown ${other} (known: enabled, driver, config.url)`;
  if (typeof enabled !== 'boolean') return '.enabled is missing: give true or false';
  if (!enabled)
    return driver === undefined && config.url === undefined ? undefined : ' is not enabled: omit its driver';
  if (!DRIVERS.includes(driver)) return `.driver is ${JSON.stringify(driver)}: use "file", "database" or "redis"`;
  return config.url === undefined ? undefined : urlProblem(driver!, config.url);
}

function urlProblem(driver: NonNullable<MemoryPersistence['driver']>, url: string): string | undefined {
  if (driver === 'file') return '.config.url has no effect with the driver "file", whose files are in DATA_DIR';
  const isRedis = /^rediss?:\/\//i.test(url);
  if (driver === 'redis') return isRedis ? undefined : '.config.url is no redis:// URL';
  return isRedis || !/^[a-z]+:/i.test(url) ? '.config.url is no database URL' : undefined;
}
