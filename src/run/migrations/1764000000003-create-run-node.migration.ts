import type { MigrationInterface, QueryRunner } from 'typeorm';
import { bigintColumn, SchemaBuilder, stringColumn, type TableDefinition } from '../../persistence/schema/index.js';

const OWNER = stringColumn('owner', 64, { isNullable: true });

const RUN_NODE: TableDefinition = {
  name: 'run_node',
  columns: [stringColumn('id', 64, { isPrimary: true }), bigintColumn('beat'), stringColumn('serves', 2000)],
};

/** The nodes of a cluster, and the owner of each run. */
export class CreateRunNode1764000000003 implements MigrationInterface {
  readonly name = 'CreateRunNode1764000000003';

  async up(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.addColumns('run', [OWNER]);
    await schema.createTable(RUN_NODE);
  }

  async down(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.dropTable(RUN_NODE.name);
    await schema.dropColumns('run', [OWNER.name]);
  }
}
