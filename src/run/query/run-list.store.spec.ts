import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { ALICE, aRun, openDatabase, RunHost, type OpenDatabase } from '../../../test/support/run-host.js';
import type { Principal } from '../../kernel/index.js';
import { RunListStore, type RunFilter } from './run-list.store.js';
import type { RunStatus } from '../run.types.js';
import { BY_PRINCIPAL } from '../../../test/support/run-parts.js';
import { PLAIN_CIPHER } from '../../security/encryption/index.js';

const STATUSES: readonly RunStatus[] = ['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled'];
/** Each sees all of its tenant. */
const ROOT = { ...ALICE, id: 'root', roles: ['admin'] };
const EVE = { id: 'eve', tenant: 'other', roles: ['admin'] };

interface Fact {
  readonly id: string;
  readonly tenant: string;
  readonly status: RunStatus;
  readonly agent: string;
  readonly sessionId: string | null;
  readonly createdAt: number;
}

const oneOf = <T>(values: readonly T[], n: number): T => values[n % values.length]!;

/** Runs of every kind; several are created in the same ms, and some ids differ only in letter case. */
const FACTS: readonly Fact[] = Array.from({ length: 300 }, (_, i) => ({
  id: `${String((i * 7919) % 1000).padStart(4, '0')}${i % 2 === 0 ? 'a' : 'A'}-${i}`,
  tenant: i % 5 === 0 ? EVE.tenant : ALICE.tenant,
  status: oneOf(STATUSES, i * 5 + Math.floor(i / 7)),
  agent: oneOf(['a', 'b', 'A'], i),
  sessionId: oneOf([null, 's1', 's2', 'S1'], Math.floor(i / 3)),
  createdAt: 1000 + Math.floor(((i * 31) % 300) / 4),
}));

let opened: OpenDatabase;
let store: RunListStore;
beforeAll(async () => {
  opened = await openDatabase();
  const { journal } = new RunHost(opened.database);
  store = new RunListStore(opened.database, PLAIN_CIPHER, BY_PRINCIPAL);
  for (const { id, tenant, agent, sessionId, status, createdAt } of FACTS) {
    const start = aRun(id, sessionId, { principal: { ...ALICE, tenant }, agent });
    await journal.create(start, 'queued', createdAt);
    await opened.database.commit([{ sql: 'UPDATE run SET status = ? WHERE id = ?', params: [status, id], rows: 1 }]);
  }
});
afterAll(() => opened.close());

function expected(tenant: string, { statuses, agent, sessionId, from = 0, to = Infinity }: RunFilter): string[] {
  return FACTS.filter((run) => run.tenant === tenant && run.createdAt >= from && run.createdAt < to)
    .filter((run) => !statuses || statuses.includes(run.status))
    .filter((run) => agent === undefined || run.agent === agent)
    .filter((run) => sessionId === undefined || run.sessionId === sessionId)
    .toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id);
}

const time = fc.integer({ min: 995, max: 1080 });
const filter: fc.Arbitrary<RunFilter> = fc.record(
  {
    statuses: fc.array(fc.constantFrom(...STATUSES), { minLength: 1, maxLength: 4 }),
    agent: fc.constantFrom('a', 'b', 'A', 'missing'),
    sessionId: fc.constantFrom('s1', 's2', 'S1', 'none'),
    from: time,
    to: time,
  },
  { requiredKeys: [] },
);

describe('the list of runs', () => {
  it('contains the runs that match the filter, the newest first, each on one page', async () => {
    await fc.assert(
      fc.asyncProperty(
        filter,
        fc.integer({ min: 1, max: 60 }),
        fc.constantFrom(ROOT, EVE),
        async (given, limit, who) => {
          const found: string[] = [];
          let cursor: string | undefined;
          do {
            const page = await store.list(who, given, limit, cursor);
            expect(page.runs.length).toBeLessThanOrEqual(limit);
            found.push(...page.runs.map(({ id }) => id));
            expect(page.next === null || page.runs.length === limit).toBe(true);
            cursor = page.next ?? undefined;
          } while (cursor !== undefined);
          expect(found).toEqual(expected(who.tenant, given));
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each(['', 'x', '1.', '.a', '1 or 1=1', `1.${'x'.repeat(65)}`])('refuses the cursor %j', async (cursor) => {
    await expect(store.list(ALICE, {}, 1, cursor)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
  });

  it.each<[RunFilter, string, Principal]>([
    [{}, 'run_by_tenant', ROOT],
    [{ from: 1, to: 2 }, 'run_by_tenant', ROOT],
    [{ agent: 'a' }, 'run_by_agent', ROOT],
    [{ agent: 'a', from: 1, kind: 'agent' }, 'run_by_(agent|tenant)', ROOT],
    [{ agent: 'a', statuses: ['completed'] }, 'run_by_agent', ROOT],
    [{ errorCode: 'x', agent: 'a' }, 'run_by_error', ROOT],
    [{ errorCode: 'x', from: 1 }, 'run_by_error', ALICE],
    [{ kind: 'workflow' }, 'run_by_kind', ROOT],
    [{ kind: 'workflow', from: 1, statuses: ['completed'] }, 'run_by_kind', ROOT],
    [{ kind: 'agent' }, 'run_by_tenant', ROOT],
    [{ kind: 'workflow', statuses: ['failed'] }, 'run_by_status', ROOT],
    [{ statuses: ['waiting'] }, 'run_by_status', ROOT],
    [{ statuses: ['waiting', 'failed'], agent: 'a', from: 1 }, 'run_by_status', ROOT],
    [{ sessionId: 's1' }, 'run_by_session', ROOT],
    [{ sessionId: 's1', from: 1, agent: 'a' }, 'run_by_session', ROOT],
    [{}, 'run_by_principal', ALICE],
    [{ from: 1 }, 'run_by_principal', ALICE],
    [{ from: 1, to: 2 }, 'run_by_principal', ALICE],
    [{ statuses: ['waiting'] }, 'run_by_status', ALICE],
    [{ statuses: ['completed'], agent: 'a' }, 'run_by_principal', ALICE],
    [{ statuses: ['failed', 'cancelled'] }, 'run_by_failure', ALICE],
    [{ statuses: ['failed'], from: 1, agent: 'a' }, 'run_by_failure', ALICE],
    [{ kind: 'workflow', from: 1 }, 'run_by_principal', ALICE],
    [{ sessionId: 's1' }, 'run_by_session', ALICE],
    [{ sessionId: 's1', from: 1, agent: 'a' }, 'run_by_session', ALICE],
  ])('reads %j along an index, in its order', async (given, index, reader) => {
    const sql: string[] = [];
    const watched = Object.create(opened.database) as typeof opened.database;
    watched.query = async (text, params) => {
      const plan = await opened.database.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, params);
      // Excludes the plan rows of the placeholders, which SqliteDatabase writes as subqueries.
      sql.push(
        ...plan.map(({ detail }) => detail).filter((detail) => !/^(?:SCALAR SUBQUERY|SCAN CONSTANT)/.test(detail)),
      );
      return [];
    };
    for (const cursor of [undefined, '1000.x'])
      await new RunListStore(watched, PLAIN_CIPHER, BY_PRINCIPAL).list(reader, given, 10, cursor);
    expect(sql.length).toBeGreaterThan(0);
    for (const step of sql) expect(step).toMatch(new RegExp(`^SEARCH run USING INDEX ${index} `));
  });
});

describe('a search of runs', () => {
  it('reads 10,000 runs at most, and continues there', async () => {
    const many = await openDatabase();
    const { journal } = new RunHost(many.database);
    await journal.create({ ...aRun('first', null), question: 'the Needle' }, 'queued', 1);
    const { sql, params } = copies(10_300);
    await many.database.commit([{ sql, params }]);
    await journal.create({ ...aRun('last', null), question: 'a needle' }, 'queued', 20_000);
    const searched = new RunListStore(many.database, PLAIN_CIPHER, BY_PRINCIPAL);
    const page = await searched.search(ALICE, { text: 'NEEDLE' }, 5);
    expect(page.runs.map(({ id, preview }) => [id, preview])).toEqual([['last', 'a needle']]);
    expect(page.searchedTo).toBe(303);
    const rest = await searched.search(ALICE, { text: 'NEEDLE' }, 5, page.next!);
    expect(rest).toMatchObject({ runs: [{ id: 'first' }], next: null, searchedTo: 1 });
    await many.close();
  });
});

/** Copies the run `first` with other questions, created at the times 2, 3 and so on. */
function copies(count: number) {
  const fields = 'tenant, principal, principal_id, kind, agent, status, epoch, attempts, loop_version, definition_hash';
  const sql = `INSERT INTO run (id, created_at, preview, ${fields}, input, timeout_ms)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
    SELECT 'copy-' || i, 1 + i, 'hay', ${fields}, input, timeout_ms FROM run, n WHERE id = 'first'`;
  return { sql, params: [count] };
}
