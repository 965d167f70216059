import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Without it a changed key would leave the earlier terms in SQLite's index; the other databases maintain theirs. */
const TRIGGER = `CREATE TRIGGER IF NOT EXISTS fact_changed AFTER UPDATE OF terms ON fact BEGIN
    INSERT INTO fact_terms (fact_terms, rowid, terms) VALUES ('delete', old.terms_row, old.terms);
    INSERT INTO fact_terms (rowid, terms) VALUES (new.terms_row, new.terms);
  END`;

/** Facts are encrypted: texts that look encrypted are marked as plain, and their terms may change. */
export class EncryptFact1764000000022 implements MigrationInterface {
  readonly name = 'EncryptFact1764000000022';

  async up(runner: QueryRunner): Promise<void> {
    // MariaDB runs an interrupted migration again; a marked text no longer matches.
    await runner.query("UPDATE fact SET text = CONCAT('=', text) WHERE SUBSTR(text, 1, 4) = 'enc:'");
    if (isSqlite(runner)) await runner.query(TRIGGER);
  }

  async down(runner: QueryRunner): Promise<void> {
    if (isSqlite(runner)) await runner.query('DROP TRIGGER IF EXISTS fact_changed');
    await runner.query("UPDATE fact SET text = SUBSTR(text, 2) WHERE SUBSTR(text, 1, 5) = '=enc:'");
  }
}

function isSqlite(runner: QueryRunner): boolean {
  const { type } = runner.dataSource.options;
  return type !== 'postgres' && type !== 'mariadb';
}
