import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Principal } from '../src/kernel/index.js';
import { RunEraseStore } from '../src/run/erase/run-erase.store.js';
import type { RunUsage, UsageReported } from '../src/run/event/run-event.types.js';
import { RunUsageStore } from '../src/run/usage/run-usage.store.js';
import { UsageDayStore } from '../src/run/usage/usage-day.store.js';
import { insertUsage } from '../src/run/run-outbox.js';
import { PLAIN_CIPHER } from '../src/security/encryption/index.js';
import { aRun, openDatabase, RunHost, type OpenDatabase } from './support/run-host.js';
import { describeDatabases, testServers } from './support/test-databases.js';
import { BY_PRINCIPAL } from './support/run-parts.js';

const servers = await testServers();
const DAY_MS = 86_400_000;
const NOON = Date.UTC(2027, 0, 15, 12);
const took = (prompt_tokens: number, more: Partial<RunUsage> = {}): RunUsage => ({
  prompt_tokens,
  completion_tokens: 1,
  total_tokens: prompt_tokens + 1,
  ...more,
});

/** Sees all calls of its tenant. */
const seer = (tenant: string): Principal => ({ id: 'seer', tenant, roles: ['admin'] });

describeDatabases('usage of models', servers, (created) => {
  let opened: OpenDatabase;
  let usages: RunUsageStore;
  let days: UsageDayStore;
  let tenants = 0;
  let tenant: string;
  beforeAll(async () => {
    opened = await openDatabase({ DATABASE_URL: created().url });
    usages = new RunUsageStore(opened.database, BY_PRINCIPAL);
    days = new UsageDayStore(opened.database);
  });
  beforeEach(() => void (tenant = `t${++tenants}`));
  afterAll(() => opened.close());

  const report = (
    n: number,
    usage: RunUsage & Partial<UsageReported>,
    { session = 's', model = 'm', agent = 'a', at = NOON, of = tenant, by = seer(of) } = {},
  ) =>
    opened.database.commit([
      insertUsage(
        {
          id: `run-of-${of}`,
          tenant: of,
          principal: by,
          sessionId: session === '' ? null : session,
          lineage: null,
          agent,
        },
        { type: 'usage', iteration: n, model, ...usage },
        n,
        at,
      ),
    ]);

  it('is summed exactly, and contains known values only', async () => {
    await report(2, took(10, { cached_tokens: 4, cost: 0.1 }));
    await report(3, took(20, { cost: 0.2 }));
    await report(4, took(30));
    expect(await usages.total({ principal: seer(tenant) })).toEqual({
      calls: 3,
      usage: { prompt_tokens: 60, completion_tokens: 3, total_tokens: 63, cached_tokens: 4, cost: 0.3 },
    });
    expect(await usages.total({ principal: seer('unknown') })).toEqual({
      calls: 0,
      usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    });
  });

  it('is grouped by day, session, model and tenant, and filtered by days and session', async () => {
    await report(2, took(1), { session: 'a', model: 'x' });
    await report(3, took(2), { session: 'b', model: 'x', at: NOON + DAY_MS });
    await report(4, took(4), { session: '', model: 'y', at: NOON + 2 * DAY_MS });
    const by = async (kind: 'day' | 'session' | 'model' | 'tenant', filter = {}) => {
      const { entries } = await usages.page({ principal: seer(tenant), ...filter }, kind, 10);
      return entries.map(({ key, usage }) => [key, usage.prompt_tokens]);
    };
    expect(await by('day')).toEqual([
      ['2027-01-15', 1],
      ['2027-01-16', 2],
      ['2027-01-17', 4],
    ]);
    expect(await by('session')).toEqual([
      ['', 4],
      ['a', 1],
      ['b', 2],
    ]);
    expect(await by('model', { from: '2027-01-16' })).toEqual([
      ['x', 2],
      ['y', 4],
    ]);
    expect(await by('day', { to: '2027-01-16', sessionId: 'b' })).toEqual([['2027-01-16', 2]]);
    expect(await by('tenant')).toEqual([[tenant, 7]]);
  });

  it('is grouped by agent, and filtered by agent and model; the agent of deleted runs is unknown', async () => {
    await report(2, took(1), { agent: 'poet', model: 'x' });
    await report(3, took(2), { agent: 'poet', model: 'y' });
    await report(4, took(4), { agent: 'clerk' });
    await opened.database.commit([
      { sql: `UPDATE run_usage SET agent = NULL WHERE tenant = ? AND agent = 'clerk'`, params: [tenant] },
    ]);
    const { entries } = await usages.page({ principal: seer(tenant) }, 'agent', 10);
    expect(entries.map(({ key, usage }) => [key, usage.prompt_tokens])).toEqual([
      ['', 4],
      ['poet', 3],
    ]);
    const filter = { principal: seer(tenant), agent: 'poet', model: 'y' };
    expect((await usages.total(filter)).usage.prompt_tokens).toBe(2);
  });

  it('has percentiles of the durations, estimated within buckets', async () => {
    const durations = [60, 70, 80, 90, 150, 150, 150, 150, 300, 200_000];
    for (const [n, execution_time_ms] of durations.entries()) {
      const first = n < 5 && { first_token_ms: 10 };
      await report(n + 2, { ...took(1), execution_time_ms, ...first }, { model: n === 9 ? 'slow' : 'm' });
    }
    await report(20, took(1));
    const { duration, firstToken } = await usages.latency({ principal: seer(tenant) });
    expect(duration).toEqual({
      calls: 10,
      counts: [0, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 1],
      percentiles: { p50: 125, p90: 500, p95: 120_000, p99: 120_000 },
    });
    expect(firstToken).toMatchObject({ calls: 5, percentiles: { p50: 25, p99: 50 } });
    const { entries } = await usages.latencyPage({ principal: seer(tenant) }, 'model', 10);
    expect(entries.map(({ key, duration: of }) => [key, of.calls])).toEqual([
      ['m', 9],
      ['slow', 1],
    ]);
    expect(await usages.latency({ principal: seer('unknown') })).toMatchObject({ duration: { percentiles: null } });
  });

  it('is listed page by page', async () => {
    for (const [n, session] of ['e', 'a', 'd', 'c', 'b'].entries()) await report(n + 2, took(n), { session });
    const seen: string[] = [];
    for (let after: string | null = ''; after !== null;) {
      const page = await usages.page({ principal: seer(tenant) }, 'session', 2, after === '' ? undefined : after);
      seen.push(page.entries.map(({ key }) => key).join(''));
      after = page.next;
    }
    expect(seen).toEqual(['ab', 'cd', 'e']);
  });

  it('is limited to the highest plausible value', async () => {
    await report(2, { prompt_tokens: 1e300, completion_tokens: 0.4, total_tokens: 1e300, cost: 1e300 });
    const { usage } = await usages.total({ principal: seer(tenant) });
    expect(usage).toEqual({ prompt_tokens: 1e12, completion_tokens: 0, total_tokens: 1e12, cost: 1e6 });
  });

  it('is written in the batch with its event, or not at all', async () => {
    const host = new RunHost(opened.database);
    host.scripts.set('published', async (context) => {
      context.emit({ type: 'usage', iteration: 1, model: 'm', ...took(7) });
    });
    const { done } = await host.runs.start({ ...aRun('published', 'its-session') });
    await done;
    const { entries } = await usages.page({ principal: seer('nest') }, 'session', 10);
    expect(entries).toMatchObject([{ key: 'its-session', calls: 1, usage: { prompt_tokens: 7 } }]);
    const published = await host.journal.events('published', 0);
    expect(published.filter(({ event }) => event.type === 'usage')).toHaveLength(1);
  });

  it('outlives an erased run, without a session', async () => {
    await new RunEraseStore(opened.database, PLAIN_CIPHER).erase('nest', ['published'], new Set());
    const { entries } = await usages.page({ principal: seer('nest') }, 'session', 10);
    expect(entries).toMatchObject([{ key: '', usage: { prompt_tokens: 7 } }]);
  });

  /** Adds all calls to the daily sums. */
  const sumUp = async () => {
    while (await days.add(100));
  };

  /** Answers to all questions about the tenant's usage. */
  const answers = async (principal: Principal) => {
    const filters = [{}, { from: '2027-01-16' }, { to: '2027-01-15' }, { agent: 'poet' }, { model: 'y' }];
    const asked = filters.map(async (filter) => {
      const all = { principal, ...filter };
      const kinds = (['day', 'session', 'agent', 'model', 'tenant'] as const).map((kind) =>
        Promise.all([usages.page(all, kind, 10), usages.latencyPage(all, kind, 10)]),
      );
      return [await usages.total(all), await usages.latency(all), await Promise.all(kinds)];
    });
    return Promise.all(asked);
  };

  /** The calls of a tenant and of a user of it. */
  const reportMixed = async (user: Principal) => {
    await report(2, took(1, { cached_tokens: 3, cost: 0.1 }), { session: 'a', model: 'x', agent: 'poet' });
    await report(3, { ...took(2), execution_time_ms: 70, first_token_ms: 10 }, { model: 'y', at: NOON + DAY_MS });
    await report(4, took(4, { cost: 0.2 }), { session: '', model: 'y', agent: 'poet', by: user });
    await report(5, took(8), { model: 'y', by: user });
    await report(6, took(16), { model: 'x', at: NOON + DAY_MS, by: user });
  };
  const aUser = (): Principal => ({ id: `user-of-${tenant}`, tenant, roles: ['user'] });

  it('is the same before and after its calls are added to the daily sums', async () => {
    const readers = [seer(tenant), aUser()];
    await reportMixed(readers[1]!);
    const before = [await answers(readers[0]!), await answers(readers[1]!)];
    expect(before[1]).not.toEqual(before[0]);
    for (let more = true; more;) {
      more = await days.add(2);
      expect([await answers(readers[0]!), await answers(readers[1]!)]).toEqual(before);
    }
    const rest = await opened.database.query('SELECT run_id FROM run_usage WHERE unsummed = 1 AND tenant = ?', [
      tenant,
    ]);
    expect(rest).toEqual([]);
  });

  it('counts each call once, with several processes that sum', async () => {
    const calls = Array.from({ length: 30 }, (_, n) => n + 2);
    await Promise.all(calls.map((n) => report(n, took(n), { model: `m${n % 3}` })));
    const before = await answers(seer(tenant));
    const processes = [1, 2, 3].map(async () => {
      for (let left = 40; left > 0 && (await days.add(7)); left--);
    });
    await Promise.all(processes);
    await sumUp();
    expect(await answers(seer(tenant))).toEqual(before);
  });

  it('includes the calls of earlier versions, which do not know the sums', async () => {
    await report(2, took(5));
    await sumUp();
    await report(3, took(7));
    expect((await usages.total({ principal: seer(tenant) })).usage.prompt_tokens).toBe(12);
    await sumUp();
    expect((await usages.total({ principal: seer(tenant) })).usage.prompt_tokens).toBe(12);
  });

  it('of an erased user remains counted for the tenant, without the user', async () => {
    const user = aUser();
    await reportMixed(user);
    await sumUp();
    const before = await usages.total({ principal: seer(tenant) });
    await report(7, took(32), { by: user });
    const erased = new RunEraseStore(opened.database, PLAIN_CIPHER);
    await erased.erase(tenant, [`run-of-${tenant}`], new Set());
    await sumUp();
    const { usage } = await usages.total({ principal: seer(tenant) });
    expect(usage.prompt_tokens).toBe(before.usage.prompt_tokens + 32);
    expect(await usages.total({ principal: user })).toMatchObject({ calls: 0 });
    for (const table of ['run_usage', 'usage_day'])
      expect(await opened.database.query(`SELECT day FROM ${table} WHERE principal_id = ?`, [user.id])).toEqual([]);
  });

  it('of a user who is erased while its calls are added names the user nowhere', async () => {
    const user = aUser();
    await reportMixed(user);
    const racing = Object.create(opened.database) as typeof opened.database;
    racing.commit = async (batch) => {
      await new RunEraseStore(opened.database, PLAIN_CIPHER).erase(tenant, [`run-of-${tenant}`], new Set());
      await opened.database.commit(batch);
    };
    await new UsageDayStore(racing).add(100);
    await sumUp();
    expect((await usages.total({ principal: seer(tenant) })).calls).toBe(5);
    expect(await opened.database.query('SELECT day FROM usage_day WHERE principal_id = ?', [user.id])).toEqual([]);
  });

  it('is deleted in small batches once it is too old', async () => {
    for (const n of [2, 3, 4]) await report(n, took(n), { at: NOON - 100 * DAY_MS });
    await report(5, took(5));
    await sumUp();
    const before = NOON - 99 * DAY_MS;
    expect([await usages.drop(before, 2), await usages.drop(before, 2)]).toEqual([true, false]);
    expect((await usages.total({ principal: seer(tenant) })).calls).toBe(1);
  });
});
