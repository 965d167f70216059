import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { webhookConfig, type WebhookConfig } from '../config/namespaces/index.js';
import { Log } from '../errors/index.js';
import { RecurringWork } from '../kernel/index.js';
import { Database } from '../persistence/index.js';
import { RunFollowService } from '../run/follow/index.js';
import { type DeliveryOutcome, type WebhookDelivery, WebhookDeliveryStore } from './webhook-delivery.store.js';
import { type PublishedEvent, type PublishedRun, toPayload } from './webhook-payload.mapper.js';
import { type DeliveryAttempt, WebhookClient } from './webhook.client.js';
import { CONFIGURED_WEBHOOK, type OpenedWebhook, WebhookStore } from './webhook.store.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Delays before the second to the last attempt, in ms: 12 attempts within about 28 hours. */
const DELAYS_MS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  6 * HOUR,
  7 * HOUR,
  7 * HOUR,
];
/** Most that a delay is extended, as a share of it: requests that failed together are repeated apart. */
const SPREAD = 0.2;

/** Longest delay that a receiver can request by `Retry-After`, in ms. */
export const LONGEST_DELAY_MS = 12 * HOUR;

/**
 * The delay before the next attempt, in ms; `null` after the last.
 * @param attempts failed attempts so far, at least 1
 */
export function retryDelayMs(attempts: number, random: () => number = Math.random): number | null {
  const delayMs = DELAYS_MS[attempts - 1];
  return delayMs === undefined ? null : Math.round(delayMs * (1 + SPREAD * random()));
}

/** Requests in progress: to one webhook, so that a slow receiver delays only its own, and in all. */
const MOST_OF_ONE = 4;
const MOST = 16;
const FIRST_ROUND_MS = 500;
/** Longest time until a delivery that another process enqueued is found, in ms. */
const ROUND_EVERY_MS = 10_000;
const RETRY_ROUND_MS = 5_000;
/** Pause of the rounds while a copied database is not adopted, in ms. */
const COPY_PAUSE_MS = 1_000;
/** Time after a request's limit in which its outcome is recorded; then another process may repeat it, in ms. */
const LEASE_MARGIN_MS = 5_000;

const DISABLED: DeliveryAttempt = {
  isDelivered: false,
  responseStatus: null,
  error: 'The webhook is disabled or deleted.',
};

/**
 * Sends due deliveries. Each process does so; a claim decides which one sends. A process that ends during a request leaves a
 * claim, and the request is repeated when it expires: at least once, with the same `webhook-id`.
 */
@Injectable()
export class WebhookSender implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Log(WebhookSender.name);
  private readonly closing = new AbortController();
  /** Requests in progress, by webhook. */
  private readonly inProgress = new Map<string, number>();
  private readonly attempts = new Set<Promise<void>>();
  private stopListening: (() => void) | undefined;
  private readonly rounds = new RecurringWork({
    work: () => this.round(),
    onFailure: (err) => this.logger.warn({ err }, 'Failed to read due webhook deliveries; retrying'),
    retryMs: RETRY_ROUND_MS,
  });

  constructor(
    private readonly database: Database,
    private readonly webhooks: WebhookStore,
    private readonly deliveries: WebhookDeliveryStore,
    private readonly client: WebhookClient,
    private readonly follower: RunFollowService,
    @Inject(webhookConfig.KEY) private readonly config: WebhookConfig,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.database.onceOpen(() => this.rounds.start(FIRST_ROUND_MS));
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopListening?.();
    await this.rounds.stop();
    this.closing.abort();
    await Promise.all(this.attempts);
  }

  /** Reads due deliveries now. */
  wake(): void {
    this.rounds.wake();
  }

  /** @returns ms until the next round */
  private async round(): Promise<number> {
    if (this.database.origin.isCopy) return COPY_PAUSE_MS;
    this.listen(await this.webhooks.hasActive());
    const places = MOST - this.attempts.size;
    const due = places > 0 ? await this.deliveries.due(Date.now(), places, this.excluded()) : [];
    for (const delivery of due) await this.claim(delivery);
    if (due.length > 0 && due.length === places) return 0;
    const next = await this.deliveries.nextDue();
    // Deliveries that wait for a place are found at the end of an attempt.
    const waitMs = next === null || next <= Date.now() ? ROUND_EVERY_MS : next - Date.now();
    return Math.min(waitMs, ROUND_EVERY_MS);
  }

  /** Commits of this process wake it only while there is a webhook. */
  private listen(hasWebhooks: boolean): void {
    if (hasWebhooks) this.stopListening ??= this.database.onStatusChange(() => this.wake());
    else {
      this.stopListening?.();
      this.stopListening = undefined;
    }
  }

  /** Webhooks that receive no further request now. */
  private excluded(): string[] {
    const busy = [...this.inProgress].filter(([, count]) => count >= MOST_OF_ONE).map(([id]) => id);
    // Only a process with its secret can send to it.
    return this.config.configured ? busy : [...busy, CONFIGURED_WEBHOOK];
  }

  private async claim(delivery: WebhookDelivery): Promise<void> {
    const { webhookId } = delivery;
    const count = this.inProgress.get(webhookId) ?? 0;
    if (count >= MOST_OF_ONE || this.closing.signal.aborted) return;
    const until = Date.now() + this.config.timeoutMs + LEASE_MARGIN_MS;
    if (!(await this.deliveries.claim(delivery, until))) return;
    this.inProgress.set(webhookId, count + 1);
    const attempt: Promise<void> = this.attempt(delivery).finally(() => {
      this.attempts.delete(attempt);
      this.leave(webhookId);
      this.wake();
    });
    this.attempts.add(attempt);
  }

  private leave(webhookId: string): void {
    const count = this.inProgress.get(webhookId)! - 1;
    if (count > 0) this.inProgress.set(webhookId, count);
    else this.inProgress.delete(webhookId);
  }

  private async attempt(delivery: WebhookDelivery): Promise<void> {
    const about = { webhook_id: delivery.webhookId, run_id: delivery.runId, event: delivery.type };
    try {
      const webhook = await this.webhooks.findAny(delivery.webhookId);
      const made = webhook?.isActive ? await this.send(webhook, delivery) : DISABLED;
      const outcome = toOutcome(delivery, made, webhook?.isActive === true);
      await this.deliveries.settle(delivery, outcome);
      if (webhook && made.isGone) await this.disable(webhook);
      if (outcome.status === 'failed')
        this.logger.warn({ ...about, error: made.error }, 'Webhook delivery failed; it is not repeated');
    } catch (err) {
      if (this.closing.signal.aborted) await this.putBack(delivery);
      else this.logger.warn({ err, ...about }, 'Webhook delivery was interrupted; it is repeated');
    }
  }

  private async send(webhook: OpenedWebhook, delivery: WebhookDelivery): Promise<DeliveryAttempt> {
    const { runId, n } = delivery;
    const [run] = await this.database.query<PublishedRun>(
      'SELECT agent, session_id, principal_id FROM run WHERE id = ?',
      [runId],
    );
    if (!run) return { ...DISABLED, error: 'The run was erased.' };
    const { value: item } = await this.follower.recorded(runId, n - 1, n, 1).next();
    const body = JSON.stringify(
      toPayload(delivery, run, item?.event as PublishedEvent | undefined, webhook.hasContent),
    );
    return this.client.send(webhook, { id: `${runId}.${n}`, body }, this.closing.signal);
  }

  private async disable(webhook: OpenedWebhook): Promise<void> {
    await this.webhooks.change(webhook, { isActive: false, disabledReason: 'gone' });
    this.logger.warn({ webhook_id: webhook.id }, 'Webhook disabled: its receiver replied 410 (gone)');
  }

  /** A shutdown interrupted the request, so that it does not count. */
  private async putBack(delivery: WebhookDelivery): Promise<void> {
    const { attempts, responseStatus, error } = delivery;
    const again: DeliveryOutcome = { status: 'pending', dueAt: Date.now(), attempts, responseStatus, error };
    // Otherwise the claim expires.
    await this.deliveries.settle(delivery, again).catch(() => undefined);
  }
}

function toOutcome(delivery: WebhookDelivery, made: DeliveryAttempt, isActive: boolean): DeliveryOutcome {
  const { isDelivered, responseStatus, error, retryAfterMs = 0, isGone = false } = made;
  const attempts = delivery.attempts + 1;
  const about = { attempts, responseStatus, error };
  if (isDelivered) return { ...about, status: 'delivered', dueAt: null };
  const delayMs = isGone || !isActive ? null : retryDelayMs(attempts);
  if (delayMs === null) return { ...about, status: 'failed', dueAt: null };
  return {
    ...about,
    status: 'pending',
    dueAt: Date.now() + Math.max(delayMs, Math.min(retryAfterMs, LONGEST_DELAY_MS)),
  };
}
