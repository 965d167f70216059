import type { FastifyReply } from 'fastify';
import type { RunHandle } from '../run/index.js';

/** Marks the response of an idempotent replay. */
export function markReplay(reply: FastifyReply, { kind }: Pick<RunHandle, 'kind'>): void {
  if (kind === 'replayed') reply.header('idempotent-replayed', 'true');
}
