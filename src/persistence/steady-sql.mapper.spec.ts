import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { DataSource } from 'typeorm';
import { loadSqliteDriver } from './sqlite-driver.loader.js';
import type { SqliteHandle } from './sqlite-handle.types.js';
import { toSteadySql } from './steady-sql.mapper.js';

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
