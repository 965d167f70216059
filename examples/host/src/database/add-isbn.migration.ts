import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddIsbn1790000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE book ADD COLUMN isbn text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE book DROP COLUMN isbn');
  }
}
