import type { FastifyReply } from 'fastify';
import type { RunHandle } from '../run/index.js';

/** Says that the request has had its effect before. */
export function tellTwin(reply: FastifyReply, { kind }: Pick<RunHandle, 'kind'>): void {
  if (kind === 'twin') reply.header('idempotent-replayed', 'true');
}
