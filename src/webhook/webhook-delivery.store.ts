import { Injectable } from '@nestjs/common';
import type { EntitySchemaOptions } from 'typeorm';
import { Database } from '../persistence/index.js';
import type { Table } from '../persistence/schema/index.js';
import type { WebhookEvent } from '../run/event/index.js';
import { MetricRegistry } from '../telemetry/index.js';

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/** The delivery of an event to a webhook; the batch that stored the event inserted it. Times are epoch ms. */
export interface WebhookDelivery {
  readonly webhookId: string;
  readonly runId: string;
  /** The number of the event in its run. */
  readonly n: number;
  readonly tenant: string;
  readonly type: WebhookEvent;
  readonly status: DeliveryStatus;
  /** Attempts so far, one in progress included. */
  readonly attempts: number;
  readonly createdAt: number;
  /** Time of the next attempt; `null` after the last. */
  readonly dueAt: number | null;
  readonly finishedAt: number | null;
  /** HTTP status of the last reply; `null` without one. */
  readonly responseStatus: number | null;
  /** The error of the last attempt. */
  readonly error: string | null;
}

export const DeliveryEntity: EntitySchemaOptions<WebhookDelivery> = {
  name: 'webhook_delivery',
  withoutRowid: true,
  columns: {
    webhookId: { type: 'varchar', name: 'webhook_id', length: 64, primary: true },
    runId: { type: 'varchar', name: 'run_id', length: 64, primary: true },
    n: { type: 'integer', primary: true },
    tenant: { type: 'varchar', length: 128 },
    type: { type: 'varchar', length: 32 },
    status: { type: 'varchar', length: 16 },
    attempts: { type: 'integer' },
    createdAt: { type: 'bigint', name: 'created_at' },
    dueAt: { type: 'bigint', name: 'due_at', nullable: true },
    finishedAt: { type: 'bigint', name: 'finished_at', nullable: true },
    responseStatus: { type: 'integer', name: 'response_status', nullable: true },
    error: { type: 'varchar', length: 255, nullable: true },
  },
};

/** The outcome of an attempt. */
export interface DeliveryOutcome extends Pick<WebhookDelivery, 'status' | 'dueAt' | 'responseStatus' | 'error'> {
  /** Attempts that count; fewer if a shutdown interrupted the last one. */
  readonly attempts: number;
}

/** The table `webhook_delivery`. */
@Injectable()
export class WebhookDeliveryStore {
  private readonly deliveries: Table<WebhookDelivery>;

  constructor(
    private readonly database: Database,
    private readonly metrics: MetricRegistry,
  ) {
    this.deliveries = database.table(DeliveryEntity);
  }

  /** Deliveries whose time has come, the oldest first, without those of some webhooks. */
  async due(now: number, limit: number, except: readonly string[]): Promise<WebhookDelivery[]> {
    const { In, LessThanOrEqual, Not } = await import('typeorm');
    const where = { dueAt: LessThanOrEqual(now), ...(except.length > 0 && { webhookId: Not(In(except)) }) };
    return this.deliveries.find({ where, order: { dueAt: 'ASC' }, take: limit });
  }

  /** The time of the next attempt of any delivery; `null` without one. */
  async nextDue(): Promise<number | null> {
    const [row] = await this.database.query<{ at: number | null }>(
      'SELECT MIN(due_at) AS at FROM webhook_delivery WHERE due_at IS NOT NULL',
    );
    return row?.at ?? null;
  }

  /**
   * Claims an attempt for this process.
   * @param until another process may repeat the attempt from this time on, epoch ms
   * @returns false if another process has claimed it
   */
  async claim({ webhookId, runId, n, dueAt, attempts }: WebhookDelivery, until: number): Promise<boolean> {
    const where = { webhookId, runId, n, attempts, ...(dueAt !== null && { dueAt }) };
    return (await this.deliveries.update(where, { dueAt: until, attempts: attempts + 1 })) > 0;
  }

  /** Records an outcome; no effect if the delivery was removed, or claimed again by another process. */
  async settle({ webhookId, runId, n, attempts }: WebhookDelivery, outcome: DeliveryOutcome): Promise<void> {
    const finishedAt = outcome.dueAt === null ? Date.now() : null;
    const counted = outcome.status === 'pending' ? 'retried' : outcome.status;
    if (outcome.attempts > attempts) this.metrics.count('jackdaw_webhook_requests_total', { outcome: counted });
    await this.deliveries.update({ webhookId, runId, n, attempts: attempts + 1 }, { ...outcome, finishedAt });
  }

  /**
   * The deliveries of a webhook to a tenant, newest first.
   * @param after position of the last delivery of the previous page
   */
  async list(
    webhookId: string,
    tenant: string,
    limit: number,
    filter: { readonly status?: DeliveryStatus; readonly after?: string },
  ): Promise<WebhookDelivery[]> {
    const { LessThan } = await import('typeorm');
    const [, run, n] = /^(.+)\.(\d+)$/.exec(filter.after ?? '') ?? [];
    const common = { webhookId, tenant, ...(filter.status && { status: filter.status }) };
    const where =
      run === undefined
        ? common
        : [
            { ...common, runId: LessThan(run) },
            { ...common, runId: run, n: LessThan(Number(n)) },
          ];
    return this.deliveries.find({ where, order: { runId: 'DESC', n: 'DESC' }, take: limit });
  }

  find(webhookId: string, tenant: string, runId: string, n: number): Promise<WebhookDelivery | null> {
    return this.deliveries.findOne({ webhookId, tenant, runId, n });
  }

  /** Starts the attempts of a finished delivery again. @returns whether it was finished */
  async restart({ webhookId, runId, n }: WebhookDelivery): Promise<boolean> {
    const { IsNull } = await import('typeorm');
    const again = { status: 'pending' as const, attempts: 0, dueAt: Date.now(), finishedAt: null };
    return (await this.deliveries.update({ webhookId, runId, n, dueAt: IsNull() }, again)) > 0;
  }
}
