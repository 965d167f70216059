import type { MigrationInterface, QueryRunner, Table } from 'typeorm';

const CREATED = /^\s*CREATE (?:VIRTUAL )?TABLE (?:IF NOT EXISTS )?(\w+)/i;

/**
 * The tables that migrations create, in the order of their creation. The migrations run against a runner that executes
 * nothing: their queries find no rows.
 */
export async function plannedTables(
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
