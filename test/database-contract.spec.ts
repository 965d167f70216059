import { afterEach, beforeEach, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { isRefusedAtOnce, refusalOf, type Database } from '../src/persistence/index.js';
import { insert, type Statement } from '../src/persistence/statement/index.js';
import type { OpenPersistence } from '../src/persistence/persistence.types.js';
import { add, change, entry, openAgain, openItems, thrown } from './support/item-table.js';
import { describeDatabases, testServers } from './support/test-databases.js';

Logger.overrideLogger(false);
const servers = await testServers();

describeDatabases('the database', servers, (created, kind) => {
  let opened: OpenPersistence;
  let database: Database;
  beforeEach(async () => {
    opened = await openItems(created().url);
    ({ database } = opened);
  });
  afterEach(() => opened.close());

  const ids = async () => (await database.query<{ id: number }>('SELECT id FROM item ORDER BY id')).map(({ id }) => id);

  it('reports its dialect', () => {
    expect(database.dialect).toBe(kind);
  });

  it('applies a batch completely, in the order of its statements', async () => {
    await database.commit([add(1), add(2), change(2, 'two', 1), { sql: 'DELETE FROM item WHERE id = ?', params: [1] }]);
    expect(await database.query('SELECT id, body FROM item')).toEqual([{ id: 2, body: 'two' }]);
    await database.commit([]);
  });

  it.each([0, 1, 2, 3])(
    'rejects the whole batch if statement %i affects another number of rows than required',
    async (at) => {
      await database.commit([add(1)]);
      for (const wrong of [change(99, 'x', 1), change(1, 'x', 0), change(1, 'x', 2)]) {
        const batch: Statement[] = [add(10), add(11), change(1, 'y', 1)];
        batch.splice(at, 0, wrong);
        const error = await thrown(database.commit(batch));
        expect([refusalOf(error), isRefusedAtOnce(error)]).toEqual(['rows', at === 0]);
        expect(error).toMatchObject({ code: 'COMMIT_REFUSED', details: { reason: 'rows', statement: at } });
      }
      expect(await database.query('SELECT id, body FROM item')).toEqual([{ id: 1, body: null }]);
    },
  );

  it.each([0, 1, 2, 3])('rejects the whole batch if statement %i violates a unique key', async (at) => {
    await database.commit([add(1), insert('entry', entry('a', { slot: 's' }))]);
    for (const wrong of [add(1), insert('entry', entry('a')), insert('entry', entry('b', { slot: 's' }))]) {
      const batch: Statement[] = [add(10), add(11), change(1, 'y', 1)];
      batch.splice(at, 0, wrong);
      const error = await thrown(database.commit(batch));
      expect([refusalOf(error), isRefusedAtOnce(error)]).toEqual(['unique', at === 0]);
      expect(error).toMatchObject({ details: { reason: 'unique', statement: at } });
    }
    expect(await ids()).toEqual([1]);
  });

  it('counts a row that an update does not change', async () => {
    await database.commit([add(1, 'same')]);
    const same = { sql: 'UPDATE item SET body = body WHERE id = ?', params: [1], rows: 1 };
    expect(await thrown(database.commit([change(1, 'same', 1), same]))).toBeNull();
  });

  it("throws the database's error of an invalid statement and remains usable", async () => {
    const wrong: Statement[] = [
      { sql: 'INSERT INTO nowhere (id) VALUES (?)', params: [1] },
      { sql: 'INSERT INTO item (id, body) VALUES (?, ?)', params: [9] },
      { sql: 'INSERT INTO item (id) VALUES (?)', params: [null] },
      { sql: 'INSERT INTO item (id) VALUES (?)', params: [{} as never] },
    ];
    for (const statement of wrong) {
      const error = await thrown(database.commit([add(1), statement]));
      expect([error === null, refusalOf(error)]).toEqual([false, null]);
    }
    await expect(database.query('SELECT id FROM nowhere')).rejects.toThrow('nowhere');
    await Promise.all(Array.from({ length: 20 }, (_, at) => database.commit([add(at), change(at, 'x', 1)])));
    expect(await ids()).toHaveLength(20);
  });

  it('commits exactly one of many concurrent batches that expect the same version', async () => {
    await database.commit([insert('entry', entry('a', { version: 0 }))]);
    for (let version = 0; version < 5; version++) {
      const errors = await Promise.all(
        Array.from({ length: 30 }, (_, at) =>
          thrown(
            database.commit([
              {
                sql: 'UPDATE entry SET version = version + 1 WHERE tenant = ? AND name = ? AND version = ?',
                params: ['t', 'a', version],
                rows: 1,
              },
              add(version * 100 + at),
            ]),
          ),
        ),
      );
      expect(errors.filter((error) => error === null)).toHaveLength(1);
      expect(errors.filter(isRefusedAtOnce)).toHaveLength(29);
    }
    expect(await ids()).toHaveLength(5);
  });

  it('applies batches with opposite lock orders, each once', async () => {
    await database.commit(Array.from({ length: 4 }, (_, at) => insert('entry', entry(`e${at}`, { version: 0 }))));
    const raise = (at: number): Statement => ({
      sql: 'UPDATE entry SET version = version + 1 WHERE name = ?',
      params: [`e${at}`],
      rows: 1,
    });
    const orders = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]]; // prettier-ignore
    for (let round = 0; round < 2; round++) {
      await Promise.all(orders.map((order) => database.commit(order.map(raise))));
    }
    const rows = await database.query('SELECT version FROM entry');
    expect(rows).toEqual(Array.from({ length: 4 }, () => ({ version: 8 })));
  });

  it('preserves the order of consecutive batches', async () => {
    for (let id = 0; id < 50; id++) await database.commit([add(id)]);
    expect(await ids()).toEqual(Array.from({ length: 50 }, (_, id) => id));
    await database.ping();
  });

  it('commits pending batches before it closes', async () => {
    if (kind === 'sqlite') return;
    const commits = Array.from({ length: 40 }, (_, id) => database.commit([add(id)]));
    await opened.close();
    await Promise.all(commits);
    opened = await openAgain(created().url);
    expect(await opened.database.query('SELECT COUNT(*) AS n FROM item')).toEqual([{ n: 40 }]);
  });

  it('reads correctly after a schema change', async () => {
    const read = () => Promise.all(Array.from({ length: 12 }, () => database.query('SELECT * FROM item')));
    await database.commit([add(1)]);
    expect(await read()).toHaveLength(12);
    await opened.dataSource.query('ALTER TABLE item ADD COLUMN more integer DEFAULT 7');
    for (const rows of await read()) expect(rows).toEqual([{ id: 1, body: null, more: 7 }]);
    await opened.dataSource.query('ALTER TABLE item DROP COLUMN more');
    for (const rows of await read()) expect(rows).toEqual([{ id: 1, body: null }]);
  });

  if (kind === 'sqlite') return;

  it("throws the driver's error for a lost connection and reconnects", async () => {
    await database.commit([add(1)]);
    const sleep = { sql: kind === 'postgres' ? 'SELECT pg_sleep(20)' : 'DO SLEEP(20)', params: [] };
    const waiting = Array.from({ length: 3 }, (_, at) => thrown(database.commit([add(2 + at), sleep])));
    while ((await created().sleeping()) < 3);
    await created().disconnect();
    for (const error of await Promise.all(waiting)) {
      expect(error).toBeInstanceOf(Error);
      expect(refusalOf(error)).toBeNull();
    }
    await database.commit([add(5)]);
    await database.ping();
    expect(await ids()).toEqual([1, 5]);
  });

  it('reconnects after the loss of all idle connections', async () => {
    await Promise.all(Array.from({ length: 10 }, (_, id) => database.commit([add(id)])));
    await created().disconnect();
    // A connection may be used before the process detects that the server closed it.
    while (await thrown(database.ping()));
    await Promise.all(Array.from({ length: 10 }, (_, id) => database.commit([add(100 + id)])));
    expect(await ids()).toHaveLength(20);
  });
});
