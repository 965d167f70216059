import { Injectable } from '@nestjs/common';
import type { EntitySchemaOptions } from 'typeorm';
import { Database } from '../persistence/index.js';
import type { Table } from '../persistence/schema/index.js';
import type { WebhookEvent } from '../run/event/index.js';
import { Cipher, type RowPlace, type SealedTable, type StoredRow } from '../security/encryption/index.js';

/** Id of the webhook of `WEBHOOK_URL`, which receives events of all tenants. */
export const CONFIGURED_WEBHOOK = 'configured';
/** Tenant of a webhook of all tenants. */
export const ALL_TENANTS = '';

/** Why a webhook is disabled: by a person, because its URL is gone (410), or on a copy of the database. */
export type DisabledReason = 'person' | 'gone' | 'restored';

/** A webhook without its secrets. Times are epoch ms. */
export interface Webhook {
  readonly id: string;
  readonly tenant: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** Only runs of this agent, or of `workflow:<name>`; `null` for all. */
  readonly agent: string | null;
  /** Whether requests contain the answer and the arguments of waiting calls. */
  readonly hasContent: boolean;
  readonly isActive: boolean;
  readonly disabledReason: DisabledReason | null;
  readonly createdAt: number;
  readonly createdBy: string;
}

/** The URL and the secrets of a webhook. */
export interface WebhookTarget {
  readonly url: string;
  readonly secret: string;
  /** The secret before the last rotation, which signs too until a time (epoch ms). */
  readonly previous?: { readonly secret: string; readonly until: number };
}

export interface OpenedWebhook extends Webhook {
  readonly target: WebhookTarget;
}

export interface StoredWebhook {
  readonly id: string;
  readonly tenant: string;
  readonly target: string;
  readonly events: string;
  readonly agent: string | null;
  readonly hasContent: number;
  readonly isActive: number;
  readonly disabledReason: DisabledReason | null;
  readonly createdAt: number;
  readonly createdBy: string;
}

export const WebhookEntity: EntitySchemaOptions<StoredWebhook> = {
  name: 'webhook',
  withoutRowid: true,
  columns: {
    id: { type: 'varchar', length: 64, primary: true },
    tenant: { type: 'varchar', length: 128 },
    target: { type: 'text' },
    events: { type: 'text' },
    agent: { type: 'varchar', length: 255, nullable: true },
    hasContent: { type: 'integer', name: 'has_content' },
    isActive: { type: 'integer', name: 'is_active' },
    disabledReason: { type: 'varchar', name: 'disabled_reason', length: 32, nullable: true },
    createdAt: { type: 'bigint', name: 'created_at' },
    createdBy: { type: 'varchar', name: 'created_by', length: 128 },
  },
};

function placeOf(tenant: string, id: string): RowPlace {
  return { tenant, column: 'webhook.target', owner: id, row: '' };
}

/** The encrypted columns, for re-encryption. */
export const WEBHOOK_SEALED_TABLES: readonly SealedTable[] = [
  {
    name: 'webhook',
    key: ['id'],
    also: ['tenant'],
    columns: [{ name: 'target', place: ({ tenant, id }: StoredRow) => placeOf(String(tenant), String(id)) }],
  },
];

/** The table `webhook`. The URL and the secrets are encrypted if rows are. */
@Injectable()
export class WebhookStore {
  private readonly webhooks: Table<StoredWebhook>;

  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {
    this.webhooks = database.table(WebhookEntity);
  }

  add(webhook: OpenedWebhook): Promise<void> {
    return this.webhooks.insert(this.toStored(webhook));
  }

  /** Adds the webhook of `WEBHOOK_URL`, or replaces it. Its row has no secret. */
  async put(webhook: OpenedWebhook): Promise<void> {
    const { id, ...changes } = this.toStored(webhook);
    if (!(await this.webhooks.insertIfAbsent({ id, ...changes }))) await this.webhooks.update({ id }, changes);
  }

  /** The webhook of a tenant, or the one of all tenants. */
  async find(tenant: string, id: string): Promise<OpenedWebhook | null> {
    const found = await this.webhooks.findOne({ id });
    return found && (found.tenant === tenant || found.tenant === ALL_TENANTS) ? this.toOpened(found) : null;
  }

  async findAny(id: string): Promise<OpenedWebhook | null> {
    const found = await this.webhooks.findOne({ id });
    return found && this.toOpened(found);
  }

  /** The webhooks of a tenant, and the one of all tenants; newest first. */
  async list(tenant: string): Promise<Webhook[]> {
    const { In } = await import('typeorm');
    const rows = await this.webhooks.find({ where: { tenant: In([tenant, ALL_TENANTS]) }, order: { id: 'DESC' } });
    return rows.map((row) => this.toOpened(row));
  }

  async count(tenant: string): Promise<number> {
    return (await this.webhooks.find({ where: { tenant }, select: { id: true } })).length;
  }

  /** Whether there is an active webhook of any tenant. */
  async hasActive(): Promise<boolean> {
    return (await this.webhooks.find({ where: { isActive: 1 }, select: { id: true }, take: 1 })).length > 0;
  }

  async change({ id, tenant }: Webhook, changes: Partial<OpenedWebhook>): Promise<void> {
    const { target, events, agent, hasContent, isActive, disabledReason } = changes;
    const stored: Partial<StoredWebhook> = {
      ...(target && { target: this.seal(tenant, id, target) }),
      ...(events && { events: JSON.stringify(events) }),
      ...(agent !== undefined && { agent }),
      ...(hasContent !== undefined && { hasContent: Number(hasContent) }),
      ...(isActive !== undefined && { isActive: Number(isActive) }),
      ...(disabledReason !== undefined && { disabledReason }),
    };
    // TypeORM refuses an update without changes.
    if (Object.keys(stored).length > 0) await this.webhooks.update({ id }, stored);
  }

  /** Removes a webhook with its deliveries, in one batch. */
  async remove(id: string): Promise<void> {
    await this.database.commit([
      { sql: 'DELETE FROM webhook_delivery WHERE webhook_id = ?', params: [id] },
      { sql: 'DELETE FROM webhook WHERE id = ?', params: [id] },
    ]);
  }

  private toStored({ target, ...webhook }: OpenedWebhook): StoredWebhook {
    const { id, tenant, events, agent, hasContent, isActive, disabledReason, createdAt, createdBy } = webhook;
    return {
      id,
      tenant,
      target: this.seal(tenant, id, target),
      events: JSON.stringify(events),
      agent,
      hasContent: Number(hasContent),
      isActive: Number(isActive),
      disabledReason,
      createdAt,
      createdBy,
    };
  }

  private toOpened({ target: sealed, events, hasContent, isActive, ...row }: StoredWebhook): OpenedWebhook {
    const target = this.cipher.openJson(sealed, placeOf(row.tenant, row.id)) as WebhookTarget;
    return {
      ...row,
      url: target.url,
      events: JSON.parse(events) as WebhookEvent[],
      hasContent: hasContent === 1,
      isActive: isActive === 1,
      target,
    };
  }

  private seal(tenant: string, id: string, target: WebhookTarget): string {
    return this.cipher.seal(JSON.stringify(target), placeOf(tenant, id));
  }
}
