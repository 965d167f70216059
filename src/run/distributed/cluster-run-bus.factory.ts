import type { DatabaseConfig } from '../../config/namespaces/index.js';
import { type Database, loadRedis, type NotificationChannel, unreference } from '../../persistence/index.js';
import { applicationName } from '../application-name.mapper.js';
import type { RunJournal } from '../run-journal.js';
import type { RunLease } from '../run-lease.js';
import { ClusterRunBus } from './cluster-run-bus.js';
import { RedisNotificationChannel } from './redis-notification-channel.js';
import { RemoteFollowRegistry } from './remote-follow.registry.js';
import { RemoteRunClient } from './remote-run.client.js';

/** Connects to Redis; the driver is imported only here. */
async function openRedisChannel(
  config: DatabaseConfig,
  place: Database['place'],
  url: string,
): Promise<RedisNotificationChannel> {
  const { Redis } = await loadRedis();
  // A message that cannot be sent now is dropped: the journal has its data.
  const sender = unreference(new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1 }));
  const receiver = unreference(new Redis(url, { maxRetriesPerRequest: null }));
  return new RedisNotificationChannel(sender, receiver, `jackdaw:${applicationName(config, place)}:`);
}

/** The dependencies of the bus between processes. */
export interface ClusterBusParts {
  readonly config: DatabaseConfig;
  readonly database: Database;
  readonly journal: RunJournal;
  readonly lease: RunLease;
  /** The database's notification channel, if it has one. */
  readonly channel: NotificationChannel | null;
}

/** The bus between processes: on Redis if configured, else on the database's notifications. */
export async function createClusterRunBus(parts: ClusterBusParts): Promise<ClusterRunBus> {
  const { config, database, journal, lease } = parts;
  const { redisUrl } = config;
  const channel = redisUrl === undefined ? parts.channel! : await openRedisChannel(config, database.place, redisUrl);
  const bus = new ClusterRunBus(
    channel,
    lease,
    new RemoteFollowRegistry(),
    new RemoteRunClient(journal, database),
    database,
  );
  await bus.start();
  return bus;
}
