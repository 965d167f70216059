import { describe, expect, it } from 'vitest';
import { MariadbTextBuilder } from './mariadb-text.builder.js';
import { splitAtPlaceholders } from './placeholder.parser.js';
import { PostgresStatementRegistry } from './postgres-statement.registry.js';

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
