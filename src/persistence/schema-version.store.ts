import type { DataSource, QueryRunner } from 'typeorm';
import { AppError } from '../errors/index.js';
import { VERSION } from '../kernel/index.js';
import { stringColumn, textColumn } from './schema/column.factory.js';
import { SchemaBuilder, type TableDefinition } from './schema/schema.builder.js';

/** The table of facts about the database itself, by name. */
export const PROPERTIES = 'jackdaw_property';

const TABLE: TableDefinition = {
  name: PROPERTIES,
  columns: [stringColumn('name', 64, { isPrimary: true }), textColumn('value')],
};

/** The newest version that has opened the database, and the oldest that may. */
const WRITTEN_BY = 'written_by';
const COMPATIBLE_FROM = 'compatible_from';

/**
 * The oldest version that can use the schema of this code. Additive migrations leave it as it is, so that a rollback and a
 * rolling upgrade work; a migration that raises it says so in CHANGELOG.
 */
const OLDEST = '0.1.0';

/** A migration as the table of migrations records it. */
interface Executed {
  readonly timestamp: number;
  readonly name: string;
}

/**
 * Refuses a schema that is too new for this code.
 * @param place name of the place, for the error
 * @param executed recorded migrations; none for a database with the tables of one module only
 * @throws AppError `CONFIG_INVALID`: nothing was changed
 */
export async function assertNotNewer(
  runner: QueryRunner,
  place: string,
  executed: readonly Executed[],
  { migrations }: DataSource,
): Promise<void> {
  const recorded = await read(runner);
  const written = recorded.get(WRITTEN_BY);
  const needed = recorded.get(COMPATIBLE_FROM);
  if (written !== undefined && needed !== undefined && isOlder(VERSION, needed)) {
    throw tooNew(`${place} was written by Jackdaw ${written}: its schema needs Jackdaw ${needed} or newer`);
  }
  // A newer version has recorded that this code may use its schema.
  if (migrations.length === 0 || (written !== undefined && isOlder(VERSION, written))) return;
  const known = new Set(migrations.map((one) => one.name ?? one.constructor.name));
  const newest = Math.max(...[...known].map(timeOf));
  const unknown = executed.find(({ name, timestamp }) => !known.has(name) && timestamp > newest);
  if (!unknown) return;
  const by = written === undefined ? 'an unknown version of Jackdaw' : `Jackdaw ${written} or a later build`;
  throw tooNew(`${place} was written by ${by}: it has the migration ${unknown.name}, which is not in this code`);
}

/** Records this version, unless a newer one has used the database. */
export async function recordVersion(runner: QueryRunner): Promise<void> {
  if (!(await runner.hasTable(PROPERTIES))) await new SchemaBuilder(runner).createTable(TABLE);
  const recorded = await read(runner);
  const written = recorded.get(WRITTEN_BY);
  if (written !== undefined && !isOlder(written, VERSION)) return;
  const needed = recorded.get(COMPATIBLE_FROM) ?? OLDEST;
  const values = [
    [WRITTEN_BY, VERSION],
    [COMPATIBLE_FROM, isOlder(needed, OLDEST) ? OLDEST : needed],
  ] as const;
  for (const [name, value] of values) {
    const sql = recorded.has(name)
      ? `UPDATE ${PROPERTIES} SET value = '${value}' WHERE name = '${name}'`
      : `INSERT INTO ${PROPERTIES} (name, value) VALUES ('${name}', '${value}')`;
    await runner.query(sql);
  }
}

async function read(runner: QueryRunner): Promise<ReadonlyMap<string, string>> {
  if (!(await runner.hasTable(PROPERTIES))) return new Map();
  const rows: unknown = await runner.query(`SELECT name, value FROM ${PROPERTIES}`);
  return new Map((rows as { name: string; value: string }[]).map(({ name, value }) => [name, value]));
}

function tooNew(reason: string): AppError {
  return new AppError(
    'CONFIG_INVALID',
    `${reason}. This is Jackdaw ${VERSION}. Nothing was changed: start the newer version, or restore a backup from before the upgrade.`,
  );
}

/** The time in the name of a migration, which ends with 13 digits. */
function timeOf(name: string): number {
  return Number(name.slice(-13));
}

/** Compares the numbers of two versions, without their pre-release. */
function isOlder(version: string, other: string): boolean {
  const [ours, theirs] = [version, other].map((text) => text.split('-')[0]!.split('.').map(Number)) as [
    number[],
    number[],
  ];
  const at = ours.findIndex((part, index) => part !== theirs[index]);
  return at !== -1 && ours[at]! < (theirs[at] ?? 0);
}
