import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  bigintColumn,
  SchemaBuilder,
  stringColumn,
  textColumn,
  type IndexDefinition,
  type TableDefinition,
} from '../../persistence/schema/index.js';

const key = { isPrimary: true };

const INDEXES: readonly IndexDefinition[] = [
  { name: 'fact_by_key', columns: ['tenant', 'user_id', 'key_digest'], isUnique: true },
  { name: 'fact_by_digest', columns: ['tenant', 'user_id', 'digest'], isUnique: true },
];

const FACT: TableDefinition = {
  name: 'fact',
  columns: [
    stringColumn('tenant', 128, key),
    stringColumn('user_id', 128, key),
    stringColumn('id', 64, key),
    stringColumn('key_digest', 64),
    stringColumn('digest', 64),
    textColumn('text'),
    textColumn('terms'),
    textColumn('embedding', { isNullable: true }),
    stringColumn('embedding_model', 256, { isNullable: true }),
    bigintColumn('created_at'),
    bigintColumn('updated_at'),
  ],
  indexes: INDEXES,
};

/**
 * SQLite's index refers to rows by rowid, which is stable only as an INTEGER PRIMARY KEY. A fact's terms never change.
 * With `secure-delete` a deletion removes the terms from the index instead of marking them.
 */
const SQLITE = [
  `CREATE TABLE IF NOT EXISTS fact (
    terms_row integer PRIMARY KEY,
    tenant varchar(128) NOT NULL,
    user_id varchar(128) NOT NULL,
    id varchar(64) NOT NULL,
    key_digest varchar(64) NOT NULL,
    digest varchar(64) NOT NULL,
    text text NOT NULL,
    terms text NOT NULL,
    embedding text,
    embedding_model varchar(256),
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    UNIQUE (tenant, user_id, id)
  )`,
  `CREATE VIRTUAL TABLE IF NOT EXISTS fact_terms USING fts5(terms, content = 'fact', content_rowid = 'terms_row')`,
  `INSERT INTO fact_terms (fact_terms, rank) VALUES ('secure-delete', 1)`,
  `CREATE TRIGGER IF NOT EXISTS fact_added AFTER INSERT ON fact BEGIN
    INSERT INTO fact_terms (rowid, terms) VALUES (new.terms_row, new.terms);
  END`,
  `CREATE TRIGGER IF NOT EXISTS fact_removed AFTER DELETE ON fact BEGIN
    INSERT INTO fact_terms (fact_terms, rowid, terms) VALUES ('delete', old.terms_row, old.terms);
  END`,
];

/** An expression index: a generated column would store another copy, and TypeORM requires a metadata table for it. */
const POSTGRES = [
  `CREATE INDEX IF NOT EXISTS fact_by_terms ON fact USING gin (to_tsvector('pg_catalog.simple', terms))`,
];

const MARIADB = ['CREATE FULLTEXT INDEX IF NOT EXISTS fact_by_terms ON fact (terms)'];

export class CreateFact1764000000005 implements MigrationInterface {
  readonly name = 'CreateFact1764000000005';

  async up(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    const { type } = runner.dataSource.options;
    if (type === 'postgres' || type === 'mariadb') {
      await schema.createTable(FACT);
      for (const sql of type === 'postgres' ? POSTGRES : MARIADB) await runner.query(sql);
      return;
    }
    for (const sql of SQLITE) await runner.query(sql);
    for (const index of INDEXES) await schema.createIndex(FACT.name, index);
  }

  async down(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.dropTable('fact_terms');
    await schema.dropTable(FACT.name);
  }
}
