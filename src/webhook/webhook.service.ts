import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { webhookConfig, type WebhookConfig } from '../config/namespaces/index.js';
import { AppError, Log, messageOf } from '../errors/index.js';
import { fieldMistake, newId, type Principal } from '../kernel/index.js';
import { withoutTrailing } from '../kernel/json/index.js';
import { Database } from '../persistence/index.js';
import type { WebhookEvent } from '../run/event/index.js';
import { type DeliveryStatus, type WebhookDelivery, WebhookDeliveryStore } from './webhook-delivery.store.js';
import { WebhookSender } from './webhook-sender.js';
import { type DeliveryAttempt, newSecret, WebhookClient } from './webhook.client.js';
import { ALL_TENANTS, CONFIGURED_WEBHOOK, type OpenedWebhook, type Webhook, WebhookStore } from './webhook.store.js';

/** Webhooks of one tenant. */
const MOST_WEBHOOKS = 50;
/** Time in which the secret before a rotation signs too, in ms. */
const ROTATION_MS = 24 * 3_600_000;

/** A webhook to create. */
export interface NewWebhook {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly agent: string | null;
  readonly hasContent: boolean;
}

/** Changes of a webhook; absent fields stay. */
export interface WebhookChanges extends Partial<NewWebhook> {
  readonly isActive?: boolean;
}

/** Creates, changes and removes the webhooks of the caller's tenant, and shows their deliveries. */
@Injectable()
export class WebhookService implements OnApplicationBootstrap {
  private readonly logger = new Log(WebhookService.name);

  constructor(
    private readonly database: Database,
    private readonly store: WebhookStore,
    private readonly deliveries: WebhookDeliveryStore,
    private readonly sender: WebhookSender,
    private readonly client: WebhookClient,
    @Inject(webhookConfig.KEY) private readonly config: WebhookConfig,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.database.onceOpen(() => this.applyConfig());
  }

  /**
   * @param id of the webhook
   * @returns the webhook, and its secret, which no later call returns
   * @throws AppError `VALIDATION_FAILED` for a URL that cannot be called, `REQUEST_REFUSED` beyond 50 webhooks
   */
  async create(
    principal: Principal,
    wanted: NewWebhook,
    id = newId(),
  ): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
    const { tenant, id: createdBy } = principal;
    this.assertUrl(wanted.url);
    if ((await this.store.count(tenant)) >= MOST_WEBHOOKS) {
      throw new AppError('REQUEST_REFUSED', `A tenant has at most ${MOST_WEBHOOKS} webhooks: delete one first.`);
    }
    const secret = newSecret();
    const webhook: OpenedWebhook = {
      ...wanted,
      id,
      tenant,
      isActive: true,
      disabledReason: null,
      createdAt: Date.now(),
      createdBy,
      target: { url: wanted.url, secret },
    };
    await this.store.add(webhook);
    this.sender.wake();
    return { webhook, secret };
  }

  /** The webhooks of the caller's tenant, newest first, and the one of `WEBHOOK_URL`. */
  list({ tenant }: Principal): Promise<Webhook[]> {
    return this.store.list(tenant);
  }

  /** @throws AppError `WEBHOOK_NOT_FOUND` */
  get(principal: Principal, id: string): Promise<Webhook> {
    return this.find(principal, id);
  }

  /** @throws AppError `WEBHOOK_NOT_FOUND`, `VALIDATION_FAILED`; `REQUEST_REFUSED` for the webhook of `WEBHOOK_URL` */
  async change(principal: Principal, id: string, changes: WebhookChanges): Promise<Webhook> {
    const webhook = await this.findOwn(principal, id);
    const { url, isActive, ...rest } = changes;
    if (url !== undefined) this.assertUrl(url);
    await this.store.change(webhook, {
      ...rest,
      ...(url !== undefined && { target: { ...webhook.target, url } }),
      ...(isActive !== undefined && { isActive, disabledReason: isActive ? null : 'person' }),
    });
    this.sender.wake();
    return this.find(principal, id);
  }

  /** Deletes a webhook and its deliveries. @throws AppError as `change` */
  async remove(principal: Principal, id: string): Promise<void> {
    await this.findOwn(principal, id);
    await this.store.remove(id);
    this.sender.wake();
  }

  /** Replaces the secret; the present one signs too for 24 h. @returns the new secret. @throws AppError as `change` */
  async rotate(principal: Principal, id: string): Promise<string> {
    const webhook = await this.findOwn(principal, id);
    const { url, secret } = webhook.target;
    const next = newSecret();
    const previous = { secret, until: Date.now() + ROTATION_MS };
    await this.store.change(webhook, { target: { url, secret: next, previous } });
    return next;
  }

  /**
   * Sends a message of the type `webhook.test`, once, also to a disabled webhook.
   * @throws AppError `WEBHOOK_NOT_FOUND`
   */
  async test(principal: Principal, id: string): Promise<DeliveryAttempt> {
    const webhook = await this.find(principal, id);
    const payload = { type: 'webhook.test', timestamp: new Date().toISOString(), data: { webhook_id: id } };
    const message = { id: newId(), body: JSON.stringify(payload) };
    return this.client.send(webhook, message, new AbortController().signal);
  }

  /**
   * The deliveries of the tenant's events to a webhook, newest run first.
   * @param page `after` is the `next` of the previous page
   * @throws AppError `WEBHOOK_NOT_FOUND`
   */
  async history(
    principal: Principal,
    id: string,
    page: { readonly limit: number; readonly status?: DeliveryStatus; readonly after?: string },
  ): Promise<{ readonly deliveries: readonly WebhookDelivery[]; readonly next: string | null }> {
    await this.find(principal, id);
    const found = await this.deliveries.list(id, principal.tenant, page.limit + 1, page);
    const deliveries = found.slice(0, page.limit);
    const last = deliveries.at(-1);
    return { deliveries, next: found.length > page.limit && last ? `${last.runId}.${last.n}` : null };
  }

  /**
   * Starts the attempts of an ended delivery again; its message is the same.
   * @throws AppError `WEBHOOK_NOT_FOUND`, `NOT_FOUND` without such a delivery, `REQUEST_REFUSED` for one that is pending
   */
  async redeliver(principal: Principal, id: string, messageId: string): Promise<void> {
    await this.find(principal, id);
    const [, runId = '', n = ''] = /^(.{1,64})\.(\d{1,9})$/.exec(messageId) ?? [];
    const delivery = await this.deliveries.find(id, principal.tenant, runId, Number(n));
    if (!delivery) throw new AppError('NOT_FOUND', `Webhook "${id}" has no delivery "${messageId}".`);
    if (!(await this.deliveries.restart(delivery)))
      throw new AppError('REQUEST_REFUSED', `Delivery "${messageId}" is pending: it is repeated by itself.`);
    this.sender.wake();
  }

  private async find({ tenant }: Principal, id: string): Promise<OpenedWebhook> {
    const found = await this.store.find(tenant, id);
    if (found) return found;
    throw new AppError(
      'WEBHOOK_NOT_FOUND',
      `There is no webhook "${id}": \`GET /api/webhooks\` lists those there are.`,
    );
  }

  private async findOwn(principal: Principal, id: string): Promise<OpenedWebhook> {
    if (id !== CONFIGURED_WEBHOOK) return this.find(principal, id);
    throw new AppError('REQUEST_REFUSED', 'This webhook is set by WEBHOOK_URL: change the environment variables.');
  }

  /** Stores the webhook of `WEBHOOK_URL` without its secret, or disables an earlier one. */
  private async applyConfig(): Promise<void> {
    const { configured } = this.config;
    if (configured) {
      const { url, events, hasContent } = configured;
      await this.store.put({
        id: CONFIGURED_WEBHOOK,
        tenant: ALL_TENANTS,
        url,
        events,
        agent: null,
        hasContent,
        isActive: true,
        disabledReason: null,
        createdAt: Date.now(),
        createdBy: 'WEBHOOK_URL',
        target: { url, secret: '' },
      });
      this.logger.log(`Webhook: ${new URL(url).origin} receives ${events.join(', ')}`);
      return;
    }
    const earlier = await this.store.findAny(CONFIGURED_WEBHOOK);
    if (earlier?.isActive) await this.store.change(earlier, { isActive: false, disabledReason: 'person' });
  }

  /** @throws AppError `VALIDATION_FAILED` */
  private assertUrl(text: string): void {
    const url = URL.parse(text);
    const isHttp = url !== null && /^https?:$/.test(url.protocol);
    if (!isHttp || url.username !== '' || url.password !== '') {
      throw unusableUrl(text, 'url must be an http:// or https:// URL without a user name and a password');
    }
    try {
      this.client.check(url);
    } catch (error) {
      throw unusableUrl(text, `url: ${withoutTrailing(messageOf(error), '.')}`);
    }
  }
}

function unusableUrl(text: string, message: string): AppError {
  return new AppError('VALIDATION_FAILED', `The request is not valid: ${message}.`, {
    details: { errors: [fieldMistake('url', message, 'isWebhookUrl', text)] },
  });
}
