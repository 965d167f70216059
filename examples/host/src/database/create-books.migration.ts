import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateBooks1790000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'CREATE TABLE book (id serial PRIMARY KEY, title text NOT NULL, author text NOT NULL, lent_to varchar)',
    );
    await runner.query(
      `INSERT INTO book (title, author) VALUES ('Emma', 'Jane Austen'), ('Persuasion', 'Jane Austen'), ('Walden', 'H. D. Thoreau')`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE book');
  }
}
