import type { AppConfig } from '../../config/index.js';
import { applicationName } from '../application-name.mapper.js';
import { RedisNotificationChannel } from './redis-notification-channel.js';

/** The driver is loaded only when a Redis is configured. */
export async function openRedisChannel(config: AppConfig, url: string): Promise<RedisNotificationChannel> {
  const { Redis } = await import('ioredis');
  // What cannot be sent now is not sent later: the journal has it.
  const sender = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1 });
  const receiver = new Redis(url, { maxRetriesPerRequest: null });
  return new RedisNotificationChannel(sender, receiver, `jackdaw:${applicationName(config)}:`);
}
