import type { DatabaseConfig } from '../../config/index.js';
import { loadRedis, unreference, type Database } from '../../persistence/index.js';
import { applicationName } from '../application-name.mapper.js';
import { RedisNotificationChannel } from './redis-notification-channel.js';

/** Connects to Redis; the driver is imported only here. */
export async function openRedisChannel(
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
