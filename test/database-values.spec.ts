import { afterEach, beforeEach, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import * as fc from 'fast-check';
import { refusalOf, type Database } from '../src/persistence/index.js';
import { insert } from '../src/persistence/statement/index.js';
import type { OpenPersistence } from '../src/persistence/persistence.types.js';
import { add, change, entry, openItems, thrown } from './support/item-table.js';
import { describeDatabases, testServers } from './support/test-databases.js';

Logger.overrideLogger(false);
const AT = 1_764_000_000_123;
const servers = await testServers();

describeDatabases('the database with edge-case values', servers, (created) => {
  let opened: OpenPersistence;
  let database: Database;
  beforeEach(async () => {
    opened = await openItems(created().url);
    ({ database } = opened);
  });
  afterEach(() => opened.close());

  const ids = async () => (await database.query<{ id: number }>('SELECT id FROM item ORDER BY id')).map(({ id }) => id);

  it.each([
    ['empty text', ''],
    ['null', null],
    ['four-byte characters', '🐦‍⬛ 𝒳 漢字'],
    ['a NUL in JSON', JSON.stringify('a\0b')],
    ['a lone surrogate in JSON', JSON.stringify('\ud800 and \udc00')],
    ['quotes, placeholders and line ends', `'";--? :x $1 \\ \\' %s \b \x1a \r\n\t\u2028`],
    ['spaces at the end', 'a  '],
    ['five megabytes', '0123456789abcdéf🐦"\\'.repeat(240_000)],
  ])('returns a text unchanged: %s', async (_what, body) => {
    await database.commit([add(1, body), change(1, body, 1)]);
    const [row] = await database.query<{ body: string | null }>('SELECT body FROM item WHERE id = 1');
    expect(row?.body === body).toBe(true);
  });

  it('returns any JSON byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        const json = JSON.stringify({ [text]: text });
        await database.commit([{ sql: 'DELETE FROM item', params: [] }, add(1, json)]);
        expect(await database.query('SELECT body FROM item WHERE body = ?', [json])).toEqual([{ body: json }]);
      }),
      { numRuns: 50 },
    );
  });

  it.each([0, -1, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, AT, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
    'returns the number %d as a number',
    async (id) => {
      await database.commit([add(id), insert('entry', entry('a', { created_at: id }))]);
      expect(await ids()).toEqual([id]);
      const sql =
        'SELECT created_at, version, COUNT(*) AS n, SUM(created_at) AS s FROM entry GROUP BY created_at, version';
      expect(await database.query(sql)).toEqual([{ created_at: id, version: 1, n: 1, s: id }]);
    },
  );

  it('compares an integer with a number outside of the integer range', async () => {
    await database.commit([insert('entry', entry('a'))]);
    const sql = 'SELECT name FROM entry WHERE version <= ? AND version > ? LIMIT ?';
    for (const [most, least] of [
      [Number.MAX_SAFE_INTEGER, -AT],
      [5, 0],
      [AT, 0],
      [1, -AT],
    ])
      // prettier-ignore
      expect(await database.query(sql, [most!, least!, 10])).toEqual([{ name: 'a' }]);
  });

  it('distinguishes and orders keys by each byte', async () => {
    const names = ['A', 'B', 'Z', '_', 'a', 'a ', 'b', 'ß', 'à', 'é', 'ü', '漢', '🐦'];
    await database.commit(names.toReversed().map((name) => insert('entry', entry(name, { slot: name }))));
    const rows = await database.query<{ name: string }>('SELECT name FROM entry ORDER BY name');
    expect(rows.map(({ name }) => name)).toEqual(names);
    expect(await database.query('SELECT name FROM entry WHERE name = ?', ['a'])).toEqual([{ name: 'a' }]);
    expect(await database.query('SELECT name FROM entry WHERE slot = ?', ['a '])).toEqual([{ name: 'a ' }]);
  });

  it('does not replace a placeholder within quotes', async () => {
    await database.commit([{ sql: `INSERT INTO item (id, body) VALUES (?, 'why? it''s ?')`, params: [1] }]);
    expect(await database.query(`SELECT id FROM item WHERE body = 'why? it''s ?' AND id = ?`, [1])).toEqual([
      { id: 1 },
    ]);
  });

  it('ignores an insert of an existing key but no other error', async () => {
    const row = (version: number) => database.insertIgnore('entry', entry('a', { version }));
    await database.commit([row(1)]);
    await database.commit([row(2), add(1)]);
    expect(await database.query('SELECT version FROM entry')).toEqual([{ version: 1 }]);
    const nothing = database.insertIgnore('entry', entry('b', { version: null }));
    const error = await thrown(database.commit([nothing]));
    expect([error === null, refusalOf(error)]).toEqual([false, null]);
  });

  it('inserts or replaces by the key', async () => {
    const rows = (version: number, ...names: string[]) => {
      const all = names.map((name) => entry(name, { version, slot: name }));
      return database.upsert('entry', all, ['tenant', 'name']);
    };
    await database.commit([rows(1, 'a'), rows(2, 'a'), rows(5, 'b')]);
    await database.commit([rows(3, 'c', 'a')]);
    expect(await database.query('SELECT name, version, slot FROM entry ORDER BY name')).toEqual([
      { name: 'a', version: 3, slot: 'a' },
      { name: 'b', version: 5, slot: 'b' },
      { name: 'c', version: 3, slot: 'c' },
    ]);
    const keyOnly = database.upsert('item', [{ id: 1 }], ['id']);
    await database.commit([keyOnly, keyOnly]);
    expect(await ids()).toEqual([1]);
  });

  it('deletes at most the given number of rows', async () => {
    await database.commit(Array.from({ length: 10 }, (_, at) => insert('entry', entry(`e${at}`, { created_at: at }))));
    const some = database.limitedDelete('entry', ['tenant', 'name'], 'tenant = ? AND created_at < ? ORDER BY created_at', ['t', 8], 3); // prettier-ignore
    const left = async () =>
      (await database.query<{ name: string }>('SELECT name FROM entry ORDER BY name')).map(({ name }) => name);
    await database.commit([{ ...some, rows: 3 }]);
    expect(await left()).toEqual(['e3', 'e4', 'e5', 'e6', 'e7', 'e8', 'e9']);
    await database.commit([some, { ...some, rows: 2 }, { ...some, rows: 0 }]);
    expect(await left()).toEqual(['e8', 'e9']);
  });
});
