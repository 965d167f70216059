import type { MigrationInterface, QueryRunner } from 'typeorm';
import { integerColumn, SchemaBuilder } from '../../persistence/schema/index.js';

const TAINTED_TURN = integerColumn('tainted_turn', { isNullable: true });

export class MarkTaintedSession1764000000011 implements MigrationInterface {
  readonly name = 'MarkTaintedSession1764000000011';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).addColumns('session', [TAINTED_TURN]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropColumns('session', [TAINTED_TURN.name]);
  }
}
