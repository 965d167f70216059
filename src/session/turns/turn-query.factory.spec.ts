import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase, type OpenDatabase } from '../../../test/support/run-host.js';
import { selectTurns } from './turn-query.factory.js';
import type { TurnQuery } from './turn-store.js';

let opened: OpenDatabase;
beforeAll(async () => {
  opened = await openDatabase();
});
afterAll(() => opened.close());

const QUERIES: Record<string, Omit<TurnQuery, 'through'>> = {
  'the newest turns': { newest: 50 },
  'the newest turns within limits': { newest: 50, maxMessages: 50, maxTokens: 4000 },
  'the first turns': { newest: 50, first: 10 },
  'the marked turns': { newest: 50, marked: 100 },
  'turns by their numbers': { newest: 0, only: [1, 2] },
};

it.each(Object.entries(QUERIES))('reads %s in the order of an index', async (_name, query) => {
  const { sql, params } = selectTurns({ tenant: 't', id: 's' }, { ...query, through: 1000 });
  const plan = await opened.database.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, params);
  const details = plan.map(({ detail }) => detail);
  const searches = details.filter((detail) => detail.includes('session_turn'));
  expect(searches.length).toBeGreaterThan(0);
  for (const search of searches) expect(search).toMatch(/SEARCH .*session_id=\? AND (?:turn[<=]|mark>)\?/);
  expect(details.join('\n')).not.toContain('ORDER BY');
});
