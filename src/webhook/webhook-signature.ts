import { createHmac, randomBytes } from 'node:crypto';
import type { WebhookTarget } from './webhook.store.js';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** A new secret: `whsec_` and base64 of 32 random bytes. */
export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/**
 * The headers of a signed message: `webhook-id`, `webhook-timestamp` and `webhook-signature`, by the specification of
 * Standard Webhooks 1.0 (https://www.standardwebhooks.com). During a rotation both secrets sign.
 * @param now epoch ms
 */
export function signedHeaders(id: string, body: string, target: WebhookTarget, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const { secret, previous } = target;
  const secrets = previous && previous.until > now ? [secret, previous.secret] : [secret];
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((one) => `v1,${sign(one, `${id}.${timestamp}.${body}`)}`).join(' '),
  };
}

function sign(secret: string, text: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return createHmac('sha256', key).update(text).digest('base64');
}
