import type { DatabaseConfig, RunConfig } from '../../config/namespaces/index.js';
import { AppError, exportsOf, loadPackage, messageOf } from '../../errors/index.js';
import { isDoneWithin } from '../../kernel/index.js';
import { createRedisClient, queueConnections, type Database } from '../../persistence/index.js';
import { applicationName } from '../application-name.mapper.js';
import type { BullBackend } from './bull-backend.types.js';
import { openPostgresBackend } from './postgres-bull-backend.factory.js';

/** Longest wait for Redis at the start, in ms. */
const CHECK_MS = 2_000;

/** Fails with `CONFIG_INVALID` if BullMQ is not installed. */
export async function requireBull(): Promise<void> {
  await loadBull();
}

/** Answers of Redis to a wrong password, or to none. */
const REFUSED = /WRONGPASS|NOAUTH|invalid password|NOPERM/;

/**
 * Checks at the start that Redis accepts the credentials; a Redis that does not answer does not stop the start.
 * @throws AppError `CONFIG_INVALID`
 */
export async function checkRedis(url: string): Promise<void> {
  const client = await createRedisClient(url, CHECK_MS);
  let refused: unknown;
  // The driver reports a refused password as an event only.
  const remember = (error: unknown) => REFUSED.test(messageOf(error)) && (refused ??= error);
  client.on('error', remember);
  await isDoneWithin(
    CHECK_MS,
    client
      .connect()
      .then(() => client.ping())
      .catch(remember),
  );
  client.disconnect();
  if (refused === undefined) return;
  const message = 'Redis refuses the user or the password: correct REDIS_URL.';
  throw new AppError('CONFIG_INVALID', message, { cause: refused });
}

function loadBull() {
  return loadPackage('bullmq', 'A cluster', () => import('bullmq').then(exportsOf));
}

/** Redis if configured, else the journal's PostgreSQL. BullMQ is imported only here. */
export async function openBackend(
  config: DatabaseConfig,
  place: Database['place'],
  { leaseMs }: RunConfig['cluster'],
): Promise<BullBackend> {
  const { redisUrl } = config;
  return redisUrl === undefined
    ? openPostgresBackend(await loadBull(), place!, leaseMs, queueConnections(config))
    : openRedis(applicationName(config, place), redisUrl);
}

async function openRedis(application: string, url: string): Promise<BullBackend> {
  const bull = await loadBull();
  const prefix = `jackdaw-${application}`;
  return {
    DelayedError: bull.DelayedError,
    // Fail fast: a job that cannot be added is added again from the journal.
    queue: async (name) => new bull.Queue(name, { connection: { url, maxRetriesPerRequest: 1 }, prefix }),
    worker: async (name, processor, options) =>
      new bull.Worker(name, processor, { ...options, connection: { url, maxRetriesPerRequest: null }, prefix }),
    close: async () => undefined,
  };
}
