import type { MigrationInterface, QueryRunner } from 'typeorm';
import { SchemaBuilder, stringColumn } from '../../persistence/schema/index.js';

const COLUMN = stringColumn('parent_id', 128, { isNullable: true });
const INDEX = { name: 'session_by_parent', columns: ['tenant', 'parent_id'], onlyWith: 'parent_id' };

export class LinkSubSessions1764000000014 implements MigrationInterface {
  readonly name = 'LinkSubSessions1764000000014';

  async up(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.addColumns('session', [COLUMN]);
    await schema.createIndex('session', INDEX);
  }

  async down(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.dropIndex('session', INDEX.name);
    await schema.dropColumns('session', [COLUMN.name]);
  }
}
