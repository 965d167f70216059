import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { DataSource } from 'typeorm';
import { MariadbTextBuilder } from './mariadb-text.builder.js';
import { PostgresStatementRegistry } from './postgres-statement.registry.js';
import { loadSqliteDriver, type SqliteHandle } from './sqlite-handle.js';
import { splitAtPlaceholders, toSteadySql } from './steady-sql.mapper.js';

describe('toSteadySql', () => {
  it.each([
    ['SELECT a FROM b WHERE c = ? AND d <= ?', 'SELECT a FROM b WHERE c = (SELECT ?) AND d <= (SELECT ?)'],
    [
      'SELECT ? FROM b WHERE c IN (?, ?) AND e > ? ORDER BY f LIMIT ? OFFSET ?',
      'SELECT ? FROM b WHERE c IN (?, ?) AND e > (SELECT ?) ORDER BY f LIMIT (SELECT ?) OFFSET (SELECT ?)',
    ],
    [
      'INSERT INTO a (b) SELECT ? FROM c WHERE d = ? AND e LIKE ?',
      'INSERT INTO a (b) SELECT ? FROM c WHERE d = (SELECT ?) AND e LIKE (SELECT ?)',
    ],
    [`SELECT '= ?' FROM b WHERE c = ?`, `SELECT '= ?' FROM b WHERE c = (SELECT ?)`],
  ])('hides values from the planner: %s', (sql, steady) => {
    expect(toSteadySql(sql)).toBe(steady);
  });

  it.each(['INSERT INTO a (b) VALUES (?)', 'UPDATE a SET b = ? WHERE c = ?', 'SELECT 1', 'BEGIN IMMEDIATE'])(
    'leaves other statements unchanged: %s',
    (sql) => {
      expect(toSteadySql(sql)).toBe(sql);
    },
  );

  describe('equivalence', () => {
    const source = new DataSource({ type: 'better-sqlite3', driver: loadSqliteDriver(), database: ':memory:' });
    let handle: SqliteHandle;
    beforeAll(async () => {
      await source.initialize();
      handle = (source.driver as unknown as { databaseConnection: SqliteHandle }).databaseConnection;
      handle.exec('CREATE TABLE item (name varchar(20), n bigint, any_of, PRIMARY KEY (name, n))');
      for (const [at, name] of ['a', 'A', '1', '10', 'ä', ''].entries())
        handle.prepare('INSERT INTO item VALUES (?, ?, ?)').run(name, at * 5, at % 2 === 0 ? name : at);
    });
    afterAll(() => source.destroy());

    it('finds the same rows for any columns and values', () => {
      const value = fc.oneof(
        fc.constantFrom('a', 'A', '1', '10', 'ä', '', '5'),
        fc.integer({ min: -1, max: 30 }),
        fc.constant(null),
      );
      const operator = fc.constantFrom('=', '<', '<=', '>', '>=', '<>');
      const column = fc.constantFrom('name', 'n', 'any_of', 'n + 0');
      fc.assert(
        fc.property(column, operator, value, fc.nat(7), (of, compared, given, limit) => {
          const sql = `SELECT * FROM item WHERE ${of} ${compared} ? ORDER BY name, n LIMIT ?`;
          const read = (text: string) => handle.prepare(text).all(given, limit);
          expect(read(toSteadySql(sql))).toEqual(read(sql));
        }),
        { numRuns: 500 },
      );
    });
  });
});

const AT = 1_764_000_000_123;

describe('placeholders', () => {
  it.each([
    ['SELECT 1', ['SELECT 1']],
    ['?', ['', '']],
    ['a = ? AND b IN (?, ?)', ['a = ', ' AND b IN (', ', ', ')']],
    [`a = '?' AND b = ?`, [`a = '?' AND b = `, '']],
    [`'it''s ?' ? "?""?" ?`, [`'it''s ?' `, ' "?""?" ', '']],
  ])('are found outside of quotes: %s', (sql, pieces) => {
    expect(splitAtPlaceholders(sql)).toEqual(pieces);
  });
});

describe('PostgreSQL’s SQL', () => {
  it('is built once and has one name', () => {
    const registry = new PostgresStatementRegistry();
    const first = registry.query('SELECT ? FROM x WHERE id = ?', ['a', 1]);
    expect(first.text).toBe('SELECT $1 FROM x WHERE id = $2');
    expect(registry.query('SELECT ? FROM x WHERE id = ?', [null, 2])).toBe(first);
  });

  it('casts a number beyond 32 bits', () => {
    const registry = new PostgresStatementRegistry();
    const sql = 'a = ? AND b = ? AND c = ?';
    const texts = [
      [1, AT, 'x'],
      [1, AT + 1, 'y'],
      [1, 2, 'x'],
      [AT, 2, -AT],
    ].map((params) => registry.query(sql, params));
    expect(texts.map(({ text }) => text)).toEqual([
      'a = $1 AND b = $2::bigint AND c = $3',
      'a = $1 AND b = $2::bigint AND c = $3',
      'a = $1 AND b = $2 AND c = $3',
      'a = $1::bigint AND b = $2 AND c = $3::bigint',
    ]);
    expect(new Set(texts.map(({ name }) => name)).size).toBe(3);
  });

  it('has a different name for each row count, and for a query', () => {
    const registry = new PostgresStatementRegistry();
    const sql = 'DELETE FROM x';
    const names = [
      registry.query(sql, []),
      registry.change({ sql, params: [] }),
      registry.change({ sql, params: [], rows: 1 }),
      registry.change({ sql, params: [], rows: 2 }),
    ].map(({ name }) => name);
    expect(new Set(names).size).toBe(4);
  });

  it('limits the number of prepared texts', () => {
    const registry = new PostgresStatementRegistry();
    const names = Array.from({ length: 1200 }, (_, at) => registry.query(`SELECT ${at}`, []).name);
    expect(names.filter((name) => name === '')).toHaveLength(200);
    expect(registry.query('SELECT 5', []).name).toBe(names[5]);
  });
});

describe('MariaDB’s SQL', () => {
  const builder = new MariadbTextBuilder((text) => `<${text}>`);

  it('contains the values', () => {
    expect(builder.query('a = ? AND b = ? OR c = ?', ['x?', AT, null])).toBe(`a = <x?> AND b = ${AT} OR c = NULL`);
    expect(builder.query(`a = '?' AND b = ?`, [-0.5])).toBe(`a = '?' AND b = -0.5`);
  });

  it.each([[[]], [[1, 2]], [[Number.NaN]], [[{}]], [[undefined]], [[true]]])('refuses the values %j', (params) => {
    expect(() => builder.query('a = ?', params as never)).toThrow(TypeError);
  });
});
