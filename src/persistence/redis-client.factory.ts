import type { Redis } from 'ioredis';

/**
 * A client of a Redis that is no journal: what cannot be sent now fails now, and one that is away may come back. The driver
 * is loaded only here. Not connected yet: who opens it says what becomes of a Redis that does not answer at once.
 * @param commandTimeout the longest wait for an answer, in ms; without it as long as the connection lasts
 */
export async function createRedisClient(url: string, commandTimeout?: number): Promise<Redis> {
  const { Redis } = await import('ioredis');
  const client = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    lazyConnect: true,
    ...(commandTimeout !== undefined && { commandTimeout }),
  });
  client.on('error', () => undefined);
  return client;
}
