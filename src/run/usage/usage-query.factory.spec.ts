import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase, type OpenDatabase } from '../../../test/support/run-host.js';
import { LATENCY_COLUMNS, USAGE_COLUMNS } from './summed-column.js';
import { toUsageQuery, type UsageFilter, type UsageKind } from './usage-query.factory.js';

const principal = { id: 'ann', tenant: 't', roles: [] };
const FILTERS: readonly UsageFilter[] = [
  { principal },
  { principal, from: '2027-01-01', to: '2027-01-31' },
  { principal, agent: 'a', model: 'm' },
  {},
];

let opened: OpenDatabase;
beforeAll(async () => {
  opened = await openDatabase();
});
afterAll(() => opened.close());

/** The searched tables, each with its index and the columns that it compares. */
async function searches(filter: UsageFilter, owner: string | null, kind?: UsageKind): Promise<string[]> {
  const group = kind && { kind, limit: 50, after: undefined };
  const { sql, params } = toUsageQuery(kind === 'model' ? LATENCY_COLUMNS : USAGE_COLUMNS, filter, owner, group);
  const plan = await opened.database.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, params);
  return plan.map(({ detail }) => detail).filter((detail) => /\b(?:run_usage|usage_day)\b/.test(detail));
}

it.each(['day', 'agent', 'model', 'tenant', undefined] as const)(
  'reads sums and unsummed calls along indexes, by %s',
  async (kind) => {
    for (const owner of [null, 'ann']) {
      for (const filter of FILTERS) {
        const plan = await searches(filter, owner, kind);
        expect(plan).toHaveLength(2);
        expect(plan[0]).toMatch(/^SEARCH usage_day USING (?:PRIMARY KEY \(principal_id=\?|INDEX usage_day_by_day)/);
        expect(plan[1]).toMatch(/^SEARCH run_usage USING INDEX run_usage_unsummed \(unsummed=\?\)/);
      }
    }
  },
);

it('reads the calls of sessions in their order, those of days, or those of one session', async () => {
  expect(await searches({ principal }, null, 'session')).toEqual([
    'SEARCH run_usage USING INDEX run_usage_by_session (tenant=?)',
  ]);
  expect(await searches({ principal }, 'ann', 'session')).toEqual([
    'SEARCH run_usage USING INDEX run_usage_by_owner (tenant=? AND principal_id=?)',
  ]);
  expect(await searches({ principal, from: '2027-01-01', to: '2027-01-31' }, null, 'session')).toEqual([
    'SEARCH run_usage USING INDEX run_usage_by_day (day>? AND day<?)',
  ]);
  expect((await searches({ principal, sessionId: 's' }, null, 'day'))[0]).toContain(
    'run_usage_by_session (tenant=? AND session_id=?)',
  );
});
