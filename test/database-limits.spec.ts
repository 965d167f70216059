import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DatabaseKind } from '../src/config/index.js';
import { createReader, toQueryResult } from '../src/database-extension/database-extension.js';
import type { DatabaseReader, ReadLimits, RowSet } from '../src/database-extension/database-reader.js';
import { connectionsEnd, createReadable, type ReadableDatabase } from './support/readable-database.js';
import { describeDatabases, testServers } from './support/test-databases.js';

const servers = await testServers();
const LIMITS = { maxRows: 10, timeoutMs: 600, maxBytes: 1_000_000 };
/**
 * Upper bound of the end of a stopped read, in ms: half the duration of the shortest endless query, so that it holds on
 * a busy machine.
 */
const STOPPED_MS = 30_000;

/** Queries that run endlessly, or much longer than the tests. */
const ENDLESS: Record<DatabaseKind, readonly string[]> = {
  sqlite: [
    'WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c',
    'WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c WHERE n < 0',
  ],
  postgres: [
    'SELECT pg_sleep(60)',
    "SELECT set_config('statement_timeout', '0', false), pg_sleep(60)",
    'WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT 1 FROM c) SELECT count(*) FROM c',
  ],
  mariadb: [
    'SELECT SLEEP(60) FROM customer',
    'SELECT count(*) FROM seq_1_to_1000000 a, seq_1_to_1000000 b WHERE a.seq * b.seq < 0',
  ],
};

const MANY: Record<DatabaseKind, string> = {
  sqlite: 'WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c',
  postgres: 'WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c',
  mariadb: 'SELECT seq AS n FROM seq_1_to_100000000',
};

const LARGE: Record<DatabaseKind, string> = {
  sqlite: 'SELECT hex(zeroblob(2000000))',
  postgres: "SELECT repeat('x', 100000000)",
  mariadb: "SELECT REPEAT('x', 15000000)",
};

/** By database: a query for a large integer, bytes, a special number and null, and the expected cells. */
const VALUES: Record<DatabaseKind, readonly [string, readonly unknown[]]> = {
  sqlite: [
    "SELECT 9007199254740993, 42, x'00ff', 1.5, NULL, 9e999",
    ['9007199254740993', 42, '0x00ff', 1.5, null, 'Infinity'],
  ],
  postgres: [
    `SELECT 9007199254740993, 42::bigint, '\\x00ff'::bytea, 1.50::numeric, NULL, 'NaN'::float8, true, '{"a": [1]}'::jsonb, '2026-01-02 03:04:05Z'::timestamptz AT TIME ZONE 'UTC'`,
    ['9007199254740993', 42, '\\x00ff', '1.50', null, 'NaN', true, { a: [1] }, '2026-01-02 03:04:05'],
  ],
  mariadb: [
    "SELECT 9007199254740993, 42, x'00ff', CAST(1.5 AS DECIMAL(5,2)), NULL, CAST('2026-01-02 03:04:05' AS DATETIME)",
    ['9007199254740993', 42, '0x00ff', '1.50', null, '2026-01-02 03:04:05'],
  ],
};

describeDatabases('a read', servers, (database, kind) => {
  describe('within its limits', () => {
    let shop: ReadableDatabase;
    let reader: DatabaseReader;
    beforeAll(async () => {
      shop = await createReadable(kind, database());
      reader = await createReader(shop.options);
      await reader.open();
    });
    afterAll(async () => {
      await reader.close();
      await shop.drop();
    });

    const read = (sql: string, limits: Partial<ReadLimits> = {}): Promise<RowSet> =>
      reader.read(sql, [], { ...LIMITS, signal: new AbortController().signal, ...limits });
    /**
     * Waits until the server has stopped its queries; a cancel request takes effect after its confirmation. The test's
     * timeout limits the wait.
     */
    const stoppedOnServer = async () => {
      while ((await database().sleeping()) > 0) await setImmediate();
    };
    const expectWorks = async () =>
      expect((await read('SELECT count(*) FROM customer', { timeoutMs: 30_000 })).rows.flat().map(Number)).toEqual([2]);

    it.each(ENDLESS[kind])('stops at its timeout: %s', async (sql) => {
      const from = performance.now();
      const outcome = await read(sql).catch((error: unknown) => error);
      expect(performance.now() - from).toBeLessThan(STOPPED_MS);
      expect(outcome).toMatchObject({
        code: 'TOOL_FAILED',
        message: expect.stringContaining('took longer than 600 ms'),
      });
      await stoppedOnServer();
      await expectWorks();
    });

    it.each(ENDLESS[kind].slice(0, 1))('stops after a cancel, on the server too: %s', async (sql) => {
      const controller = new AbortController();
      const reading = read(sql, { signal: controller.signal, timeoutMs: 30_000 });
      const caught = reading.catch((error: unknown) => error);
      // Wait until the server executes the query.
      const isReading = async () => kind === 'sqlite' || (await database().sleeping()) > 0;
      while (!(await isReading()));
      controller.abort();
      expect(await caught).toMatchObject({ code: 'TOOL_CANCELLED' });
      await stoppedOnServer();
      await expect(read('SELECT 1', { signal: controller.signal })).rejects.toMatchObject({ code: 'TOOL_CANCELLED' });
      await expectWorks();
    });

    it('leaves no connection behind when several reads stop at once', async () => {
      const controller = new AbortController();
      const own = await createReader(shop.options);
      const before = await shop.connections();
      await own.open();
      const limits = { ...LIMITS, timeoutMs: 30_000, signal: controller.signal };
      const reads = [1, 2].map(() => own.read(ENDLESS[kind][0]!, [], limits).catch((error: unknown) => error));
      // One process reads SQLite, one query at a time.
      const both = kind === 'sqlite' ? 0 : 2;
      while ((await database().sleeping()) < both);
      controller.abort();
      expect(await Promise.all(reads)).toEqual(Array(2).fill(expect.objectContaining({ code: 'TOOL_CANCELLED' })));
      await own.close();
      await connectionsEnd(shop, before);
    });

    it('does not block other reads permanently', async () => {
      const reads = [...Array(5).keys()].map(() => read(ENDLESS[kind][0]!).catch((error: unknown) => error));
      const outcome = await Promise.all([...reads, expectWorks()]);
      expect(outcome.slice(0, 5)).toEqual(Array(5).fill(expect.objectContaining({ code: 'TOOL_FAILED' })));
    });

    it('returns at most the row limit and reports that there are more', async () => {
      const { rows, isCut } = await read(MANY[kind], { timeoutMs: 30_000 });
      expect([rows.map(([n]) => Number(n)), isCut]).toEqual([[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], true]);
      expect(await read('SELECT id FROM customer ORDER BY id', { maxRows: 2 })).toMatchObject({ isCut: false });
      expect(await read('SELECT id FROM customer ORDER BY id', { maxRows: 1 })).toMatchObject({ isCut: true });
      await expectWorks();
    });

    it('refuses a result over the byte limit', async () => {
      await expect(read(LARGE[kind], { timeoutMs: 30_000 })).rejects.toThrow('The result is larger than 1000000 bytes');
      await expectWorks();
    });

    it('returns values that JSON can represent', async () => {
      const [sql, expected] = VALUES[kind];
      const { rows } = toQueryResult(await read(sql), { maxCellLength: 100, maxBytes: 1_000 });
      expect(rows).toEqual([expected]);
    });

    it('reports the error message of the database', async () => {
      await expect(read('SELECT x FROM nowhere')).rejects.toMatchObject({
        code: 'TOOL_FAILED',
        message: expect.stringMatching(/^The database rejected the statement: .*nowhere/),
      });
      await expectWorks();
    });

    it('works again after the server has closed all connections', async () => {
      await expectWorks();
      await database().disconnect();
      // One read may use a closed connection and fail.
      await read('SELECT 1').catch(() => undefined);
      await read('SELECT 1').catch(() => undefined);
      await expectWorks();
    });
  });
});
