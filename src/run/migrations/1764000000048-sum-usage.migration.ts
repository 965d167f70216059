import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  bigintColumn,
  integerColumn,
  SchemaBuilder,
  stringColumn,
  type TableDefinition,
} from '../../persistence/schema/index.js';

const key = { isPrimary: true };
const nullable = { isNullable: true };

// Every call starts unsummed, also existing ones and those of older code.
const COLUMN = integerColumn('unsummed', { isNullable: true, default: '1' });
const UNSUMMED = { name: 'run_usage_unsummed', columns: ['unsummed', 'run_id', 'n'], onlyWith: COLUMN.name };
const BY_OWNER = {
  name: 'run_usage_by_owner',
  columns: ['tenant', 'principal_id', 'session_id'],
  onlyWith: 'principal_id',
};
const BY_PRINCIPAL = {
  name: 'run_usage_by_principal',
  columns: ['tenant', 'principal_id', 'day'],
  onlyWith: 'principal_id',
};

const BY_TENANT = { name: 'run_usage_by_tenant', columns: ['tenant', 'day'] };
const BY_AGENT = { name: 'run_by_agent', columns: ['tenant', 'agent', 'created_at', 'id'] };

const BY_ERROR = {
  name: 'run_by_error',
  columns: ['tenant', 'error_code', 'created_at', 'id'],
  onlyWith: 'error_code',
};
/** Few of a user's runs. */
const BY_FAILURE = {
  name: 'run_by_failure',
  columns: ['tenant', 'principal_id', 'status', 'created_at', 'id'],
  onlyIf: "status IN ('failed', 'cancelled')",
};
/** As most runs are of agents, those of other kinds are found by this index only. */
const BY_KIND = { name: 'run_by_kind', columns: ['tenant', 'kind', 'created_at', 'id'], onlyIf: "kind <> 'agent'" };

/** The bounds of `LATENCY_BUCKETS_MS`. */
const BUCKETS = 11;
const DURATIONS = ['duration_ms', 'first_token_ms'].flatMap((name) => [
  ...Array.from({ length: BUCKETS }, (_, at) => bigintColumn(`${name}_${at}`)),
  bigintColumn(`${name}_all`),
]);

const USAGE_DAY: TableDefinition = {
  name: 'usage_day',
  columns: [
    // Empty: of all principals.
    stringColumn('principal_id', 128, key),
    stringColumn('tenant', 128, key),
    stringColumn('day', 10, key),
    stringColumn('agent', 128, key),
    stringColumn('model', 200, key),
    bigintColumn('calls'),
    bigintColumn('prompt_tokens'),
    bigintColumn('completion_tokens'),
    bigintColumn('total_tokens'),
    bigintColumn('cached_tokens', nullable),
    bigintColumn('cache_write_tokens', nullable),
    bigintColumn('reasoning_tokens', nullable),
    bigintColumn('cost', nullable),
    ...DURATIONS,
  ],
  indexes: [{ name: 'usage_day_by_day', columns: ['day'] }],
};

/**
 * Daily sums of usage, and indexes of runs by agent, kind, error and failure. Older code ignores them: its calls are unsummed, and the next process of this version adds them.
 * Existing calls are added in the background after the start.
 */
export class SumUsage1764000000048 implements MigrationInterface {
  readonly name = 'SumUsage1764000000048';

  async up(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.createTable(USAGE_DAY);
    await schema.addColumns('run_usage', [COLUMN]);
    await schema.createIndex('run_usage', UNSUMMED);
    await schema.createIndex('run_usage', BY_OWNER);
    for (const { name } of [BY_PRINCIPAL, BY_TENANT]) await schema.dropIndex('run_usage', name);
    for (const index of [BY_AGENT, BY_KIND, BY_ERROR, BY_FAILURE]) await schema.createIndex('run', index);
    // The index of expiries has open runs only.
    await runner.query('UPDATE run SET expires_at = NULL WHERE expires_at IS NOT NULL AND finished_at IS NOT NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    for (const { name } of [BY_FAILURE, BY_ERROR, BY_KIND, BY_AGENT]) await schema.dropIndex('run', name);
    for (const index of [BY_PRINCIPAL, BY_TENANT]) await schema.createIndex('run_usage', index);
    await schema.dropIndex('run_usage', BY_OWNER.name);
    await schema.dropIndex('run_usage', UNSUMMED.name);
    await schema.dropColumns('run_usage', [COLUMN.name]);
    await schema.dropTable(USAGE_DAY.name);
  }
}
