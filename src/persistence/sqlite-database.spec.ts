import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { DataSource, EntitySchema, type EntitySchemaOptions } from 'typeorm';
import { loadSqliteDriver, type SqliteHandle } from './sqlite-handle.js';
import { refusalOf } from './commit-refused.error.js';
import { SqliteDatabase } from './sqlite-database.js';
import { insert } from './statement/statement.factory.js';
import type { SqlValue, Statement } from './statement/statement.types.js';

interface Item {
  readonly id: number;
  readonly body: string | null;
}

const ItemEntity: EntitySchemaOptions<Item> = {
  name: 'item',
  columns: { id: { type: 'integer', primary: true }, body: { type: 'text', nullable: true } },
};

let source: DataSource;
let database: SqliteDatabase;
beforeEach(async () => {
  source = new DataSource({
    type: 'better-sqlite3',
    driver: loadSqliteDriver(),
    database: ':memory:',
    entities: [new EntitySchema(ItemEntity)],
    synchronize: true,
  });
  await source.initialize();
  const { databaseConnection } = source.driver as unknown as { databaseConnection: SqliteHandle };
  database = new SqliteDatabase(databaseConnection);
  database.useDataSource(source);
});
afterEach(() => source.destroy());

function add(id: number, body: SqlValue = null): Statement {
  return insert('item', { id, body });
}

function change(id: number, body: SqlValue, rows?: number): Statement {
  return { sql: 'UPDATE item SET body = ? WHERE id = ?', params: [body, id], ...(rows !== undefined && { rows }) };
}

async function ids(): Promise<number[]> {
  return (await database.query<{ id: number }>('SELECT id FROM item ORDER BY id')).map(({ id }) => id);
}

/** The reasons of refused batches; `null` for durable ones. */
async function outcomes(commits: readonly Promise<void>[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(commits);
  return settled.map((one) => (one.status === 'fulfilled' ? null : (refusalOf(one.reason) ?? 'error')));
}

describe('a batch', () => {
  it('is applied as a whole', async () => {
    await database.commit([add(1), add(2), change(2, 'two', 1)]);
    expect(await database.query('SELECT * FROM item')).toEqual([
      { id: 1, body: null },
      { id: 2, body: 'two' },
    ]);
  });

  it('is refused as a whole when a statement affects a different row count', async () => {
    await database.commit([add(1)]);
    expect(await outcomes([database.commit([add(2), change(3, 'x', 1)])])).toEqual(['rows']);
    expect(await outcomes([database.commit([change(1, 'x', 0), add(3)])])).toEqual(['rows']);
    expect(await database.query('SELECT * FROM item')).toEqual([{ id: 1, body: null }]);
  });

  it('is refused as a whole when a row already exists', async () => {
    await database.commit([add(1)]);
    expect(await outcomes([database.commit([add(2), add(1)])])).toEqual(['unique']);
    expect(await ids()).toEqual([1]);
  });

  it('may be empty', async () => {
    await database.commit([]);
    expect(await ids()).toEqual([]);
  });

  it('is not applied before its turn of the event loop, and durable when it resolves', async () => {
    const committed = database.commit([add(1)]);
    expect(await ids()).toEqual([]);
    await committed;
    expect(await ids()).toEqual([1]);
  });

  it('runs after other work of the same turn, including work scheduled later', async () => {
    const committed = database.commit([add(1)]);
    await Promise.resolve();
    // As undici does before it writes to an idle connection.
    const seen = new Promise<number[]>((resolve) => setImmediate(() => resolve(ids())));
    expect(await seen).toEqual([]);
    await committed;
    expect(await ids()).toEqual([1]);
  });
});

describe('batches of one turn of the event loop', () => {
  it('are durable except for refused ones, which leave no trace, beside inserts of a table', async () => {
    const items = database.table(ItemEntity);
    const commits: Promise<void>[] = [];
    const inserts: Promise<unknown>[] = [];
    const expected: (string | null)[] = [];
    for (let i = 0; i < 600; i++) {
      const isRefused = i % 7 === 3;
      const last = isRefused ? (i % 2 === 0 ? change(-1, 'missing', 1) : add(i * 10)) : change(i * 10, 'done', 1);
      commits.push(database.commit([add(i * 10), add(i * 10 + 1), last]));
      expected.push(isRefused ? (i % 2 === 0 ? 'rows' : 'unique') : null);
      inserts.push(items.insert({ id: i * 10 + 2, body: 'repository' }));
      if (i % 50 === 49) await inserts.at(-1);
    }
    await Promise.all(inserts);
    expect(await outcomes(commits)).toEqual(expected);
    const there = expected.flatMap((refusal, i) => [...(refusal ? [] : [i * 10, i * 10 + 1]), i * 10 + 2]);
    expect(await ids()).toEqual(there);
  });

  it('see the changes of earlier ones', async () => {
    const commits = [[add(1, 'a')], [change(1, 'b', 1)], [add(1)], [change(1, 'c', 1)]].map((batch) =>
      database.commit(batch),
    );
    expect(await outcomes(commits)).toEqual([null, null, 'unique', null]);
    expect(await database.query('SELECT body FROM item')).toEqual([{ body: 'c' }]);
  });

  it.each([
    ['wrong SQL', { sql: 'INSERT INTO nowhere (id) VALUES (?)', params: [1] }],
    ['a missing parameter', { sql: 'INSERT INTO item (id, body) VALUES (?, ?)', params: [9] }],
    ['a broken constraint', { sql: 'INSERT INTO item (id) VALUES (?)', params: ['no number'] }],
    ['a value of no database', { sql: 'INSERT INTO item (id) VALUES (?)', params: [{} as never] }],
  ])('are not affected by one with %s', async (_what, broken) => {
    const commits = [[add(1)], [add(2), broken], [add(3)]].map((batch) => database.commit(batch));
    expect(await outcomes(commits)).toEqual([null, 'error', null]);
    expect(await ids()).toEqual([1, 3]);
  });

  it('have the same effect as separate commits', async () => {
    const statement = fc.oneof(
      fc.nat(4).map((id) => add(id)),
      fc.tuple(fc.nat(4), fc.constantFrom(undefined, 0, 1)).map(([id, rows]) => change(id, 'changed', rows)),
      fc.nat(4).map((id): Statement => ({ sql: 'DELETE FROM item WHERE id = ?', params: [id], rows: 1 })),
    );
    const batches = fc.array(fc.array(statement, { maxLength: 4 }), { maxLength: 8 });
    const play = async (apply: () => Promise<unknown[]>) => {
      await database.commit([{ sql: 'DELETE FROM item', params: [] }]);
      return { outcomes: await apply(), rows: await database.query('SELECT * FROM item ORDER BY id') };
    };
    await fc.assert(
      fc.asyncProperty(batches, async (all) => {
        const together = await play(() => outcomes(all.map((batch) => database.commit(batch))));
        const alone = await play(async () => {
          const results: unknown[] = [];
          for (const batch of all) results.push(...(await outcomes([database.commit(batch)])));
          return results;
        });
        expect(together).toEqual(alone);
      }),
    );
  });

  it('are committed by a flush before the database is closed', async () => {
    const commits = [database.commit([add(1)]), database.commit([add(2)])];
    database.flush();
    expect(await ids()).toEqual([1, 2]);
    expect(await outcomes(commits)).toEqual([null, null]);
  });
});

describe('a batch that may wait', () => {
  const turns = async (count: number) => {
    for (let i = 0; i < count; i++) await nextTurn();
  };

  it('shares the commit of the next one, and is applied before it', async () => {
    const waits = database.commit([add(1, 'a')], { waitsMs: 10_000 });
    await turns(3);
    expect(await ids()).toEqual([]);
    const next = database.commit([change(1, 'b', 1)]);
    expect(await outcomes([waits, next])).toEqual([null, null]);
    expect(await database.query('SELECT body FROM item')).toEqual([{ body: 'b' }]);
  });

  it('is committed alone when its wait is over', async () => {
    await database.commit([add(1)], { waitsMs: 5 });
    expect(await ids()).toEqual([1]);
  });

  it('is refused alone', async () => {
    await database.commit([add(1)]);
    const commits = [database.commit([add(1)], { waitsMs: 10_000 }), database.commit([add(2)])];
    expect(await outcomes(commits)).toEqual(['unique', null]);
  });

  it('does not delay earlier batches, and is committed when the database is closed', async () => {
    const before = database.commit([add(1)]);
    const waits = database.commit([add(2)], { waitsMs: 10_000 });
    expect(await outcomes([before, waits])).toEqual([null, null]);
    const last = database.commit([add(3)], { waitsMs: 10_000 });
    await database.close();
    await last;
    expect(await source.query('SELECT id FROM item ORDER BY id')).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
    await expect(database.query('SELECT 1')).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });
});

describe('values', () => {
  it.each([
    ['text', 'plain'],
    ['empty text', ''],
    ['null', null],
    ['four-byte characters', '🐦‍⬛ 𝒳 漢字'],
    ['a NUL in JSON', JSON.stringify('a\0b')],
    ['a NUL in text', 'a\0b'],
    ['a lone surrogate in JSON', JSON.stringify('\ud800 and \udc00')],
    ['quotes, question marks and line ends', `'";--? :x $1 \r\n\t\u2028`],
    ['a megabyte', '0123456789abcdéf🐦'.repeat(55_000)],
  ])('are read unchanged: %s', async (_what, body) => {
    await database.commit([add(1, body)]);
    await database.commit([change(1, body, 1)]);
    const [row] = await database.query<{ body: string | null }>('SELECT body FROM item WHERE body IS ?', [body]);
    expect(row?.body === body).toBe(true);
  });

  it('reads any JSON text byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        const json = JSON.stringify({ [text]: text });
        await database.commit([{ sql: 'DELETE FROM item', params: [] }, add(1, json)]);
        expect(await database.query('SELECT body FROM item')).toEqual([{ body: json }]);
      }),
    );
  });

  it.each([0, -1, 2 ** 31, Date.now(), Number.MAX_SAFE_INTEGER])('reads a number as a number: %d', async (id) => {
    await database.commit([add(id)]);
    expect(await ids()).toEqual([id]);
  });
});

describe('an insertIgnore', () => {
  it('leaves an existing row unchanged', async () => {
    const row = (body: string) => database.insertIgnore('item', { id: 1, body });
    await database.commit([row('first')]);
    await database.commit([row('second'), add(2)]);
    expect(await database.query('SELECT body FROM item WHERE id = 1')).toEqual([{ body: 'first' }]);
    expect(await ids()).toEqual([1, 2]);
  });
});

describe('a query', () => {
  it('that is invalid rejects, and the database continues to work', async () => {
    await expect(database.query('SELECT id FROM nowhere')).rejects.toThrow('nowhere');
    await database.ping();
  });
});
