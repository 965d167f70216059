import type { FastifyReply } from 'fastify';
import type { ClientWait } from '../run/index.js';

/**
 * Creates a signal that aborts when the client disconnects before its response is complete, or has disconnected
 * already.
 */
export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const onClose = () => {
    if (!raw.writableFinished) controller.abort();
  };
  if (raw.destroyed) onClose();
  else raw.once('close', onClose);
  return controller.signal;
}

/**
 * The wait of a client for capacity. It ends when the client leaves, unless the client can repeat the request by its key.
 * @param key the `Idempotency-Key`
 */
export function clientWait(reply: FastifyReply, key: string | undefined): Pick<ClientWait, 'signal'> {
  return key === undefined ? { signal: disconnectSignal(reply) } : {};
}
