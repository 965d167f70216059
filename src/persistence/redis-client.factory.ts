import type { Redis } from 'ioredis';
import { isDoneWithin } from '../common/index.js';
import { AnswerDeadline } from './answer-deadline.policy.js';

/** How long Redis has to answer the last command, in ms. */
const GOODBYE_MS = 1000;

/**
 * A client of a Redis that is no journal: what cannot be sent now fails now, and one that is away may come back. The driver
 * is loaded only here. Not connected yet: who opens it says what becomes of a Redis that does not answer at once.
 * @param timeoutMs the longest wait for an answer, or an eighth more; without it as long as the connection lasts
 */
export async function createRedisClient(url: string, timeoutMs?: number): Promise<Redis> {
  const { Redis } = await import('ioredis');
  const client = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1, lazyConnect: true });
  client.on('error', () => undefined);
  return timeoutMs === undefined ? client : withDeadline(client, new AnswerDeadline(timeoutMs));
}

/** Waits for what was sent, as long as Redis answers; a client that is not ended would try for ever to connect again. */
export async function closeRedisClient(client: Redis): Promise<void> {
  await isDoneWithin(GOODBYE_MS, client.quit());
  client.disconnect();
}

/** Every command goes through it, those of a pipeline too. */
function withDeadline(client: Redis, deadline: AnswerDeadline): Redis {
  const send = client.sendCommand.bind(client);
  client.sendCommand = (command, stream) => {
    deadline.watch(command);
    return send(command, stream);
  };
  return client;
}
