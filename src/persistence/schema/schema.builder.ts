import type { QueryRunner } from 'typeorm';
import { toTableColumn, type ColumnDefinition } from './column.factory.js';
import type { Dialect } from '../statement/statement.types.js';

export interface IndexDefinition {
  readonly name: string;
  readonly columns: readonly string[];
  readonly isUnique?: boolean;
  /** A partial index on rows with a value in this column, where the database supports it. */
  readonly onlyWith?: string;
  /** As `onlyWith`, a condition. Queries use the index only if they repeat it literally. */
  readonly onlyIf?: string;
}

export interface TableDefinition {
  readonly name: string;
  readonly columns: readonly ColumnDefinition[];
  readonly indexes?: readonly IndexDefinition[];
}

/**
 * Schema changes for migrations, in terms of all three databases. MariaDB has no transactional DDL, so a migration may
 * run again after it failed halfway: existing objects are skipped.
 */
export class SchemaBuilder {
  private readonly dialect: Dialect;

  constructor(private readonly runner: QueryRunner) {
    const { type } = runner.dataSource.options;
    this.dialect = type === 'postgres' || type === 'mariadb' ? type : 'sqlite';
  }

  /**
   * On SQLite a table has no row ids unless its rows are counted: the primary key is the table itself, not a second
   * tree.
   */
  async createTable({ name, columns, indexes = [] }: TableDefinition): Promise<void> {
    const { Table } = await import('typeorm');
    const table = new Table({
      name,
      withoutRowid: this.dialect === 'sqlite' && !columns.some(({ isCounted }) => isCounted),
      columns: columns.map((column) => toTableColumn(this.dialect, column)),
    });
    await this.runner.createTable(table, true);
    for (const index of indexes) await this.createIndex(name, index);
  }

  /** Sets the first number of the counted rows of an empty table. */
  async countFrom(table: string, column: string, first: number): Promise<void> {
    switch (this.dialect) {
      case 'sqlite':
        await this.runner.query(`INSERT INTO sqlite_sequence (name, seq) VALUES ('${table}', ${first - 1})`);
        return;
      case 'postgres':
        await this.runner.query(`SELECT setval(pg_get_serial_sequence('${table}', '${column}'), ${first}, false)`);
        return;
      case 'mariadb':
        await this.runner.query(`ALTER TABLE ${table} AUTO_INCREMENT = ${first}`);
    }
  }

  async dropTable(name: string): Promise<void> {
    await this.runner.query(`DROP TABLE IF EXISTS ${name}`);
  }

  /**
   * Adds columns in place: TypeORM would copy a whole SQLite table per column. They must be nullable, or have a
   * default.
   */
  async addColumns(table: string, columns: readonly ColumnDefinition[]): Promise<void> {
    const ifMissing = this.dialect === 'sqlite' ? '' : 'IF NOT EXISTS ';
    for (const column of columns)
      await this.runner.query(`ALTER TABLE ${table} ADD COLUMN ${ifMissing}${this.sqlOf(column)}`);
  }

  /** Fills an empty column with a text of the JSON objects of another one. Other values, as encrypted ones, are skipped. */
  async fillFromJson(table: string, column: string, from: string, key: string): Promise<void> {
    const value = {
      sqlite: `json_extract(${from}, '$.${key}')`,
      postgres: `${from}::json ->> '${key}'`,
      mariadb: `JSON_VALUE(${from}, '$.${key}')`,
    }[this.dialect];
    await this.runner.query(`UPDATE ${table} SET ${column} = ${value} WHERE ${column} IS NULL AND ${from} LIKE '{%'`);
  }

  async dropColumns(table: string, names: readonly string[]): Promise<void> {
    const ifExists = this.dialect === 'sqlite' ? '' : 'IF EXISTS ';
    for (const name of names) await this.runner.query(`ALTER TABLE ${table} DROP COLUMN ${ifExists}${name}`);
  }

  async createIndex(table: string, index: IndexDefinition): Promise<void> {
    const { name, columns, isUnique = false, onlyWith, onlyIf = onlyWith && `${onlyWith} IS NOT NULL` } = index;
    const unique = isUnique ? 'UNIQUE ' : '';
    const where = onlyIf && this.dialect !== 'mariadb' ? ` WHERE ${onlyIf}` : '';
    await this.runner.query(`CREATE ${unique}INDEX IF NOT EXISTS ${name} ON ${table} (${columns.join(', ')})${where}`);
  }

  async dropIndex(table: string, name: string): Promise<void> {
    await this.runner.query(`DROP INDEX IF EXISTS ${name}${this.dialect === 'mariadb' ? ` ON ${table}` : ''}`);
  }

  private sqlOf(column: ColumnDefinition): string {
    const { name, type, length, charset, collation, isNullable, default: value } = toTableColumn(this.dialect, column);
    return [
      `${name} ${type}${length ? `(${length})` : ''}`,
      charset && `CHARACTER SET ${charset}`,
      collation && `COLLATE "${collation}"`,
      isNullable ? '' : 'NOT NULL',
      value !== undefined && `DEFAULT ${String(value)}`,
    ]
      .filter(Boolean)
      .join(' ');
  }
}
