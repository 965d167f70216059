import type { FastifyReply } from 'fastify';
import { createHash } from 'node:crypto';
import { AppError } from '../errors/index.js';
import { fieldMistake } from '../kernel/index.js';
import type { ClientWait, IdempotentRequest, RunHandle } from '../run/index.js';

/** Marks the response of an idempotent replay. */
export function markReplay(reply: FastifyReply, { kind }: Pick<RunHandle, 'kind'>): void {
  if (kind === 'replayed') reply.header('idempotent-replayed', 'true');
}

/** Visible ASCII, as in the header's draft standard, up to the maximum length in the journal. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Parses the `Idempotency-Key` of a request and hashes the request.
 * @param route distinguishes requests with the same body
 * @throws AppError `VALIDATION_FAILED` for an invalid key
 */
export function parseIdempotencyKey(
  key: string | undefined,
  route: string,
  body: object,
): IdempotentRequest | undefined {
  if (key === undefined) return undefined;
  if (!KEY.test(key)) {
    const message = 'Idempotency-Key must be 1 to 255 visible ASCII characters, without spaces.';
    const errors = [fieldMistake('Idempotency-Key', message, 'isIdempotencyKey', key)];
    throw new AppError('VALIDATION_FAILED', message, { details: { errors } });
  }
  // The fields of a validated body are plain values.
  const fields = Object.entries(body).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    key,
    bodyHash: createHash('sha256')
      .update(JSON.stringify([route, fields]))
      .digest('hex'),
  };
}

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
