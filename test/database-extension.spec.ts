import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { DatabaseExtension, JackdawModule, ToolRegistry, type DatabaseExtensionOptions } from '../src/index.js';
import type { DatabaseKind } from '../src/config/index.js';
import { ATTACKS, LOOT, SECRET_FILE, TRACELESS } from './support/attacks.js';
import { createReadable, type ReadableDatabase } from './support/readable-database.js';
import { describeDatabases, testServers } from './support/test-databases.js';

const servers = await testServers();

interface Result {
  readonly columns: string[];
  readonly rows: unknown[][];
  readonly truncated?: string;
}

/** By database: a statement that changes the connection's state, and a query that reads that state. */
const LIMITED: Record<DatabaseKind, readonly [string, string]> = {
  sqlite: ['PRAGMA user_version', 'PRAGMA user_version'],
  postgres: ["SELECT set_config('work_mem', '77MB', false)", "SELECT current_setting('work_mem')"],
  mariadb: ['SELECT @mine := 7', 'SELECT @mine'],
};

describeDatabases('the data that agents may read', servers, (database, kind) =>
  describe('through the tools of the extension', () => {
    let shop: ReadableDatabase;
    let context: INestApplicationContext | undefined;
    let tools: ToolRegistry;

    async function begin(options: Partial<DatabaseExtensionOptions> = {}): Promise<INestApplicationContext> {
      const extension = new DatabaseExtension({ dataSource: shop.options, ...options });
      const config = { DATABASE_URL: 'sqlite::memory:', LLM_PROVIDER: 'offline' };
      return NestFactory.createApplicationContext(
        JackdawModule.forRoot({ config, recovery: 'manual', extensions: [extension] }),
        { logger: false, abortOnError: false },
      );
    }

    const query = (sql: string, parameters?: unknown[], signal?: AbortSignal) =>
      tools.call('db_query', { sql, ...(parameters && { parameters }) }, signal && { signal }) as Promise<Result>;
    const one = kind === 'postgres' ? '$1' : '?';

    beforeAll(async () => {
      shop = await createReadable(kind, database());
      context = await begin({ maxRows: 50, timeoutMs: 60_000 });
      tools = context.get(ToolRegistry);
    });
    afterAll(async () => {
      await context?.close();
      await shop.drop();
      rmSync(LOOT, { force: true });
    });

    it('includes the result of a query with parameters', async () => {
      expect(await query(`SELECT id, name FROM customer WHERE id = ${one}`, [2])).toEqual({
        columns: ['id', 'name'],
        rows: [[2, '安妮 🐦']],
      });
      const joined =
        'SELECT c.id, p.id, big, note FROM customer c JOIN purchase p ON p.customer_id = c.id ORDER BY p.id';
      expect((await query(joined)).rows).toEqual([
        [1, 1, '9007199254740993', 'first'],
        [1, 2, -5, null],
        [2, 3, 3, ''],
      ]);
      expect(await query("SELECT id FROM customer WHERE name = 'unknown'")).toEqual({ columns: ['id'], rows: [] });
      expect((await query(`SELECT id FROM customer WHERE name = ${one}`, ["x' OR '1'='1"])).rows).toEqual([]);
    });

    it.each(ATTACKS[kind])('excludes changes and files: %j', async (sql) => {
      const before = await shop.state();
      const outcome = await query(sql).catch((error: unknown) => String(error));
      expect(typeof outcome === 'string' || outcome.rows.flat().every((cell) => cell === null)).toBe(true);
      expect(JSON.stringify(outcome)).not.toContain(readFileSync(SECRET_FILE, 'utf8').trim());
      expect(existsSync(LOOT)).toBe(false);
      expect(await shop.state()).toBe(before);
      expect((await query('SELECT count(*) FROM purchase')).rows).toEqual([[3]]);
    });

    it.each(TRACELESS[kind])('includes a query without side effects: %j', async (sql) => {
      const before = await shop.state();
      await query(sql);
      expect(await shop.state()).toBe(before);
      expect((await query('SELECT count(*) FROM purchase')).rows).toEqual([[3]]);
    });

    it('excludes the connection state that an earlier query left', async () => {
      const [leave, look] = LIMITED[kind];
      for (let i = 0; i < 3; i++) await query(leave);
      const answers = await Promise.all([query(look), query(look), query(look)]);
      for (const { rows } of answers) expect(String(rows[0]?.[0])).not.toContain('7');
    });

    it('includes the schema of the listed tables', async () => {
      const shape = await tools.call('db_schema');
      expect(shape).toEqual({
        tables: expect.arrayContaining([
          {
            name: 'purchase',
            kind: 'table',
            columns: expect.arrayContaining([
              {
                name: 'id',
                type: expect.stringMatching(/^int/i),
                key: true,
                ...(kind === 'sqlite' && { nullable: true }),
              },
              {
                name: 'customer_id',
                type: expect.stringMatching(/^int/i),
                nullable: true,
                references: 'customer.id',
              },
            ]),
          },
        ]),
      });
      const listed = (await tools.call('db_schema', { tables: ['CUSTOMER', 'nowhere'] })) as {
        tables: { name: string }[];
      };
      expect(listed.tables.map(({ name }) => name)).toEqual(['customer']);
    });

    it('is cut at the limits, with a note', async () => {
      const small = await begin({
        prefix: 'shop',
        maxRows: 2,
        maxCellLength: 20,
        tables: ['customer'],
        about: 'our products',
      });
      const ours = small.get(ToolRegistry);
      expect(await ours.call('shop_query', { sql: 'SELECT id FROM purchase ORDER BY id' })).toEqual({
        columns: ['id'],
        rows: [[1], [2]],
        truncated: 'Only the first 2 rows are shown: narrow the query, or aggregate.',
      });
      const long = (await ours.call('shop_query', { sql: `SELECT '${'x'.repeat(30)}' AS x` })) as Result;
      expect(long.rows).toEqual([['xxxxxxxxxxxxxxxxxxxx… [cut: 20 of 30 characters shown]']]);
      expect(await ours.call('shop_schema')).toMatchObject({ tables: [{ name: 'customer' }] });
      expect(ours.get('shop_query').definition.description).toContain('our products');
      await small.close();
    });
  }),
);

it('the options of the extension are validated with the name of each fault', () => {
  const make = (options: object) => () => new DatabaseExtension(options as DatabaseExtensionOptions);
  expect(make({ dataSource: 'x', maxRows: 0, prefix: '1 x', limit: 3 })).toThrow(
    /^DatabaseExtension: invalid options:\n[^]*limit[^]*must be a TypeORM DataSource[^]*prefix[^]*maxRows/,
  );
  expect(make({ dataSource: { type: 'sqljs' } })().name).toBe('database');
});
