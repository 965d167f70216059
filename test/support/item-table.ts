import type { MigrationInterface, QueryRunner } from 'typeorm';
import { loadConfig } from '../../src/config/index.js';
import {
  bigintColumn,
  integerColumn,
  SchemaBuilder,
  stringColumn,
  textColumn,
} from '../../src/persistence/schema/index.js';
import { insert, type SqlValue, type Statement } from '../../src/persistence/statement/index.js';
import { openPersistence } from '../../src/persistence/shared-persistence.registry.js';
import type { OpenPersistence } from '../../src/persistence/persistence.types.js';

class CreateItem1764000009000 implements MigrationInterface {
  readonly name = 'CreateItem1764000009000';

  async up(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.createTable({
      name: 'item',
      columns: [bigintColumn('id', { isPrimary: true }), textColumn('body', { isNullable: true })],
    });
    await schema.createTable({
      name: 'entry',
      columns: [
        stringColumn('tenant', 64, { isPrimary: true }),
        stringColumn('name', 64, { isPrimary: true }),
        stringColumn('slot', 64, { isNullable: true }),
        integerColumn('version'),
        bigintColumn('created_at'),
      ],
      indexes: [{ name: 'entry_by_slot', columns: ['slot'], isUnique: true }],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.dropTable('entry');
    await schema.dropTable('item');
  }
}

/** Opens a database with two empty test tables. */
export async function openItems(url: string): Promise<OpenPersistence> {
  const opened = await openAgain(url);
  await opened.database.commit(['item', 'entry'].map((table) => ({ sql: `DELETE FROM ${table}`, params: [] })));
  return opened;
}

/** Like `openItems`, but retains their rows. */
export function openAgain(url: string): Promise<OpenPersistence> {
  const { config } = loadConfig({ env: { DATABASE_URL: url } });
  return openPersistence(config.database, { entities: [], migrations: [CreateItem1764000009000] });
}

export function add(id: number, body: SqlValue = null): Statement {
  return insert('item', { id, body });
}

export function change(id: number, body: SqlValue, rows?: number): Statement {
  return { sql: 'UPDATE item SET body = ? WHERE id = ?', params: [body, id], ...(rows !== undefined && { rows }) };
}

export function entry(name: string, more: Record<string, SqlValue> = {}): Record<string, SqlValue> {
  return { tenant: 't', name, slot: null, version: 1, created_at: 1, ...more };
}

/** The error of a rejected promise; `null` if it resolves. */
export async function thrown(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}
