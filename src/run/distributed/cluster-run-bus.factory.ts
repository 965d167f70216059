import type { DatabaseConfig } from '../../config/index.js';
import type { Database, NotificationChannel } from '../../persistence/index.js';
import type { RunJournal } from '../run-journal.js';
import type { RunLease } from '../run-lease.js';
import { ClusterRunBus } from './cluster-run-bus.js';
import { openRedisChannel } from './redis-channel.factory.js';
import { RemoteFollowRegistry } from './remote-follow.registry.js';
import { RemoteRunClient } from './remote-run.client.js';

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
  const bus = new ClusterRunBus(channel, lease, new RemoteFollowRegistry(), new RemoteRunClient(journal, database));
  await bus.start();
  return bus;
}
