import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { createHmac, randomBytes } from 'node:crypto';
import { securityConfig, type SecurityConfig, webhookConfig, type WebhookConfig } from '../config/namespaces/index.js';
import { messageOf } from '../errors/index.js';
import { parseRetryAfter, VERSION } from '../kernel/index.js';
import { OutgoingClient } from '../security/egress/index.js';
import { CONFIGURED_WEBHOOK, type OpenedWebhook, type WebhookTarget } from './webhook.store.js';

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

/** Bytes of a reply that are read; only its status counts. */
const MAX_REPLY_BYTES = 64 * 1024;
const MAX_ERROR = 255;

/** The outcome of one request. */
export interface DeliveryAttempt {
  /** Whether the receiver replied with a status from 200 to 299. */
  readonly isDelivered: boolean;
  readonly responseStatus: number | null;
  readonly error: string | null;
  /** Time that the receiver asked to wait, in ms. */
  readonly retryAfterMs?: number;
  /** Whether the URL is gone (410). */
  readonly isGone?: boolean;
}

/** A message to one webhook. */
export interface WebhookMessage {
  /** Equal in all attempts. */
  readonly id: string;
  readonly body: string;
}

/** Sends signed requests through the guarded client. Redirects are not followed. */
@Injectable()
export class WebhookClient implements OnApplicationShutdown {
  /** For `WEBHOOK_URL`, whose host the operator has chosen. */
  private own: OutgoingClient | undefined;

  constructor(
    private readonly client: OutgoingClient,
    @Inject(webhookConfig.KEY) private readonly config: WebhookConfig,
    @Inject(securityConfig.KEY) private readonly security: SecurityConfig,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.own?.close();
  }

  /** @throws AppError `OUTGOING_REFUSED` if no message can be sent to the URL of a webhook */
  check(url: URL): void {
    this.client.check(url);
  }

  /** @throws the reason of the signal if it aborts; every other failure is an outcome */
  async send(webhook: OpenedWebhook, message: WebhookMessage, signal: AbortSignal): Promise<DeliveryAttempt> {
    const isConfigured = webhook.id === CONFIGURED_WEBHOOK;
    const target: WebhookTarget = isConfigured
      ? { url: webhook.url, secret: this.config.configured!.secret }
      : webhook.target;
    try {
      const { status, headers } = await this.clientOf(isConfigured).send({
        url: target.url,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': `Jackdaw/${VERSION}`,
          ...signedHeaders(message.id, message.body, target, Date.now()),
        },
        body: message.body,
        signal,
        limits: { timeoutMs: this.config.timeoutMs, maxBytes: MAX_REPLY_BYTES, maxRedirects: 0 },
      });
      return toAttempt(status, headers);
    } catch (error) {
      signal.throwIfAborted();
      return { isDelivered: false, responseStatus: null, error: messageOf(error).slice(0, MAX_ERROR).toWellFormed() };
    }
  }

  private clientOf(isConfigured: boolean): OutgoingClient {
    const allowed = isConfigured ? this.config.configured?.allowed : undefined;
    if (!allowed) return this.client;
    const { outgoing } = this.security;
    this.own ??= new OutgoingClient({ ...outgoing, allow: [...outgoing.allow, allowed] });
    return this.own;
  }
}

function toAttempt(responseStatus: number, headers: Readonly<Record<string, string>>): DeliveryAttempt {
  if (responseStatus >= 200 && responseStatus < 300) return { isDelivered: true, responseStatus, error: null };
  const error = `The receiver replied ${responseStatus}.`;
  const retryAfterMs = parseRetryAfter((name) => headers[name] ?? null);
  return {
    isDelivered: false,
    responseStatus,
    error,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(responseStatus === 410 && { isGone: true }),
  };
}
