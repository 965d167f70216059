import type { MigrationInterface, QueryRunner } from 'typeorm';
import { SchemaBuilder } from '../../persistence/schema/index.js';

const INDEX = { name: 'session_by_owner', columns: ['tenant', 'owner', 'created_at', 'id'] };

/** For lists of a caller's own sessions. */
export class ListOwnSessions1764000000018 implements MigrationInterface {
  readonly name = 'ListOwnSessions1764000000018';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).createIndex('session', INDEX);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropIndex('session', INDEX.name);
  }
}
