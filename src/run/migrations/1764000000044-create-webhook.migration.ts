import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  bigintColumn,
  integerColumn,
  SchemaBuilder,
  stringColumn,
  textColumn,
  type TableDefinition,
} from '../../persistence/schema/index.js';

const nullable = { isNullable: true };

const WEBHOOK: TableDefinition = {
  name: 'webhook',
  columns: [
    stringColumn('id', 64, { isPrimary: true }),
    // Empty: of all tenants.
    stringColumn('tenant', 128),
    textColumn('target'),
    textColumn('events'),
    stringColumn('agent', 255, nullable),
    integerColumn('has_content'),
    integerColumn('is_active'),
    stringColumn('disabled_reason', 32, nullable),
    bigintColumn('created_at'),
    stringColumn('created_by', 128),
  ],
  indexes: [{ name: 'webhook_by_tenant', columns: ['tenant', 'id'] }],
};

const DELIVERY: TableDefinition = {
  name: 'webhook_delivery',
  columns: [
    stringColumn('webhook_id', 64, { isPrimary: true }),
    stringColumn('run_id', 64, { isPrimary: true }),
    integerColumn('n', { isPrimary: true }),
    stringColumn('tenant', 128),
    stringColumn('type', 32),
    stringColumn('status', 16),
    integerColumn('attempts'),
    bigintColumn('created_at'),
    bigintColumn('due_at', nullable),
    bigintColumn('finished_at', nullable),
    integerColumn('response_status', nullable),
    stringColumn('error', 255, nullable),
  ],
  indexes: [
    { name: 'webhook_delivery_due', columns: ['due_at'], onlyWith: 'due_at' },
    { name: 'webhook_delivery_by_run', columns: ['run_id'] },
  ],
};

/** Webhooks, and their deliveries, which the batch of an event inserts. Older code ignores the tables. */
export class CreateWebhook1764000000044 implements MigrationInterface {
  readonly name = 'CreateWebhook1764000000044';

  async up(runner: QueryRunner): Promise<void> {
    const builder = new SchemaBuilder(runner);
    await builder.createTable(WEBHOOK);
    await builder.createTable(DELIVERY);
  }

  async down(runner: QueryRunner): Promise<void> {
    const builder = new SchemaBuilder(runner);
    await builder.dropTable(DELIVERY.name);
    await builder.dropTable(WEBHOOK.name);
  }
}
