import { type DataSource, MigrationExecutor, type MigrationInterface, type QueryRunner, type Table } from 'typeorm';
import { AppError } from '../errors/index.js';
import { bigintColumn, integerColumn, stringColumn } from './schema/column.factory.js';
import { assertNotNewer, recordVersion } from './schema-version.store.js';
import { SchemaBuilder, type TableDefinition } from './schema/schema.builder.js';

const CREATED = /^\s*CREATE (?:VIRTUAL )?TABLE (?:IF NOT EXISTS )?(\w+)/i;

/**
 * The tables that migrations create, in the order of their creation. The migrations run against a runner that executes
 * nothing: their queries find no rows.
 */
async function plannedTables(
  runner: QueryRunner,
  migrations: readonly MigrationInterface[],
): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  const recorder = Object.create(runner) as QueryRunner;
  recorder.createTable = async ({ name }: Table) => void names.add(name);
  recorder.query = (async (sql: string) => {
    const [, name] = CREATED.exec(sql) ?? [];
    if (name !== undefined) names.add(name);
    return [];
  }) as QueryRunner['query'];
  for (const migration of migrations) await migration.up(recorder);
  return names;
}

/** The table of executed migrations; TypeORM's default name may be that of a host application's table. */
export const MIGRATIONS = 'jackdaw_migration';
/** The table of executed migrations of installations before `jackdaw_migration`. */
export const LEGACY_MIGRATIONS = 'migrations';

const TABLE: TableDefinition = {
  name: MIGRATIONS,
  columns: [
    integerColumn('id', { isPrimary: true, isCounted: true }),
    bigintColumn('timestamp'),
    stringColumn('name', 255),
  ],
};

/** Makes other nodes that start at the same time wait; held on the connection of the migrations. */
export interface MigrationLock {
  take(runner: QueryRunner): Promise<void>;
  release(runner: QueryRunner): Promise<void>;
}

/** For a file, which has one owner. */
export const NO_MIGRATION_LOCK: MigrationLock = { take: async () => {}, release: async () => {} };

/** The place of the tables, for errors. */
export interface MigrationPlace {
  readonly name: string;
  /** The remedy if tables of others are there. */
  readonly remedy: string;
  readonly options: MigrationOptions;
}

export interface MigrationOptions {
  /** Whether these are the tables of one module, in a database of their own or beside the others. */
  readonly isPart?: boolean;
  /** Whether pending migrations are applied; by default they are. Those of a module always are. */
  readonly migrates?: boolean;
  /** Receives the names of the migrations that were applied. */
  readonly onMigrated?: (names: readonly string[]) => void;
}

/**
 * Migrates the schema.
 * @throws AppError `CONFIG_INVALID` if the schema is too new, or if the place has tables of others with names of ours:
 *   nothing was changed; also if migrations are pending and may not be applied, with their names as `pending`
 */
export async function migrate(dataSource: DataSource, lock: MigrationLock, place: MigrationPlace): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await lock.take(runner);
    try {
      const { isPart = false, migrates = true, onMigrated } = place.options;
      const executed = isPart ? [] : await executedIn(runner);
      await assertNotNewer(runner, place.name, executed, dataSource);
      if (!isPart && !migrates) return assertNonePending(dataSource, executed, place.name);
      await adoptLegacy(dataSource, runner);
      const foreign = await foreignTables(dataSource, runner);
      if (foreign.length > 0) {
        throw new AppError(
          'CONFIG_INVALID',
          `${place.name} has tables that are not Jackdaw's, with names that Jackdaw needs: ${foreign.join(', ')}. Nothing was created: ${place.remedy}.`,
        );
      }
      const executor = new MigrationExecutor(dataSource, runner);
      executor.transaction = 'all';
      const applied = await executor.executePendingMigrations();
      onMigrated?.(applied.map(({ name }) => name));
      await recordVersion(runner);
    } finally {
      // A broken connection has lost its lock already.
      await lock.release(runner).catch(() => undefined);
    }
  } finally {
    await runner.release();
  }
}

/** @throws AppError `CONFIG_INVALID` */
function assertNonePending(
  { migrations }: DataSource,
  executed: readonly { readonly name: string }[],
  place: string,
): void {
  const done = new Set(executed.map(({ name }) => name));
  const pending = migrations.map(nameOf).filter((name) => !done.has(name));
  if (pending.length === 0) return;
  throw new AppError(
    'CONFIG_INVALID',
    `${place} needs ${pending.length} migrations of this version, and MIGRATE is off. Nothing was changed: run \`jackdaw migrate\` as a user that may change the schema, then start again.`,
    { details: { pending } },
  );
}

async function executedIn(runner: QueryRunner): Promise<{ timestamp: number; name: string }[]> {
  if (!(await runner.hasTable(MIGRATIONS))) return [];
  const rows: unknown = await runner.query(`SELECT timestamp, name FROM ${MIGRATIONS}`);
  return (rows as { timestamp: number | string; name: string }[]).map(({ timestamp, name }) => ({
    timestamp: Number(timestamp),
    name,
  }));
}

/** Moves the rows of our migrations out of the table that other applications may share. */
async function adoptLegacy(dataSource: DataSource, runner: QueryRunner): Promise<void> {
  const table = await runner.getTable(LEGACY_MIGRATIONS);
  if (!table?.findColumnByName('name') || !table.findColumnByName('timestamp')) return;
  const ours = dataSource.migrations.map(nameOf).map((name) => `'${name}'`);
  const where = `WHERE name IN (${ours.join(', ')})`;
  const found: unknown = await runner.query(`SELECT name FROM ${LEGACY_MIGRATIONS} ${where}`);
  if ((found as unknown[]).length === 0) return;
  await new SchemaBuilder(runner).createTable(TABLE);
  // On MariaDB the statements above end a transaction.
  await runner.startTransaction();
  try {
    await runner.query(
      `INSERT INTO ${MIGRATIONS} (timestamp, name) SELECT timestamp, name FROM ${LEGACY_MIGRATIONS} ${where}
        AND name NOT IN (SELECT name FROM ${MIGRATIONS}) ORDER BY id`,
    );
    await runner.query(`DELETE FROM ${LEGACY_MIGRATIONS} ${where}`);
    await runner.commitTransaction();
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  }
  const left: unknown = await runner.query(`SELECT name FROM ${LEGACY_MIGRATIONS} LIMIT 1`);
  if ((left as unknown[]).length === 0) await runner.query(`DROP TABLE ${LEGACY_MIGRATIONS}`);
}

/** Existing tables that pending migrations would create. */
async function foreignTables(dataSource: DataSource, runner: QueryRunner): Promise<string[]> {
  const isNew = !(await runner.hasTable(MIGRATIONS));
  // MariaDB has no transactional DDL: a migration that failed halfway has created some of its tables.
  if (!isNew && dataSource.options.type === 'mariadb') return [];
  const rows: unknown = isNew ? [] : await runner.query(`SELECT name FROM ${MIGRATIONS}`);
  const executed = new Set((rows as { name: string }[]).map(({ name }) => name));
  const pending = dataSource.migrations.filter((migration) => !executed.has(nameOf(migration)));
  if (pending.length === 0) return [];
  const known = await plannedTables(
    runner,
    dataSource.migrations.filter((one) => executed.has(nameOf(one))),
  );
  const foreign: string[] = [];
  for (const name of await plannedTables(runner, pending)) {
    if (!known.has(name) && (await runner.hasTable(name))) foreign.push(name);
  }
  return foreign;
}

function nameOf(migration: MigrationInterface): string {
  return migration.name ?? migration.constructor.name;
}
