import type { FastifyReply } from 'fastify';

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
