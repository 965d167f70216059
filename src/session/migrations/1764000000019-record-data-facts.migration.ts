import type { MigrationInterface, QueryRunner } from 'typeorm';
import { integerColumn, SchemaBuilder, textColumn } from '../../persistence/schema/index.js';

const OF_SESSION = [
  integerColumn('private_turn', { isNullable: true }),
  textColumn('data_facts', { isNullable: true }),
];
const OF_FACT = [textColumn('data_facts', { isNullable: true })];

/** Marks private data in sessions, and stores the sources of these facts with sessions and remembered facts. */
export class RecordDataFacts1764000000019 implements MigrationInterface {
  readonly name = 'RecordDataFacts1764000000019';

  async up(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.addColumns('session', OF_SESSION);
    await schema.addColumns('fact', OF_FACT);
    // Earlier versions did not record it: earlier turns may contain private data.
    await runner.query('UPDATE session SET private_turn = 1 WHERE last_turn > 0');
  }

  async down(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.dropColumns(
      'fact',
      OF_FACT.map(({ name }) => name),
    );
    await schema.dropColumns(
      'session',
      OF_SESSION.map(({ name }) => name),
    );
  }
}
