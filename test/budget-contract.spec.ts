import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { Logger } from '@nestjs/common';
import { loadConfig } from '../src/config/index.js';
import { LLM_MIGRATIONS } from '../src/llm/index.js';
import type { BudgetStore } from '../src/llm/budget/budget.store.js';
import { OwnBudgetStore } from '../src/llm/budget/own-budget.store.js';
import { SharedBudgetStore } from '../src/llm/budget/shared-budget.store.js';
import { StoredModelBudget } from '../src/llm/budget/stored-model-budget.js';
import type { CallEnd, JournaledUsage } from '../src/llm/budget/model-budget.js';
import { openPersistence } from '../src/persistence/shared-persistence.registry.js';
import type { OpenPersistence } from '../src/persistence/persistence.types.js';
import { says } from './support/scripted-chat-model.js';
import { describeDatabases, testServers } from './support/test-databases.js';

Logger.overrideLogger(false);
const servers = await testServers();
const NOON = Date.UTC(2027, 0, 15, 12);
const HOUR_MS = 3_600_000;
/** With `maxTokens` 10 a call without messages reserves 10 tokens, which cost 20 millionths of the currency unit. */
const CALL = {
  model: 'm',
  request: { messages: [], parameters: { maxTokens: 10 } },
  price: { input: 1, output: 2 },
};
const took = (totalTokens: number, cost = 0): CallEnd => ({
  kind: 'answered',
  result: says('a', { usage: { promptTokens: totalTokens - 1, completionTokens: 1, totalTokens, cost } }),
});

/** A new store for each test; `createBudgetStore` returns one store for all users of a database. */
function newStore({ database }: OpenPersistence): BudgetStore {
  const shared = new SharedBudgetStore(database);
  return database.isOwn ? new OwnBudgetStore(database, shared) : shared;
}

describeDatabases('budgets', servers, (created, kind) => {
  let opened: OpenPersistence;
  /** A second process's connections, where the database permits a second process. */
  let other: OpenPersistence;
  let store: BudgetStore;
  let otherStore: BudgetStore;
  let tenants = 0;
  let tenant: string;
  const budget = (rules: object, counted = store) =>
    new StoredModelBudget(counted, { replyTokens: 1000, ...rules }, () => ({
      isExact: true,
      count: (text) => text.length,
    }));
  const account = (runId: string, step = 'model:1') => ({ tenant, runId: `${tenant}-${runId}`, sessionId: 's', step });
  const place = { limit: { tokens: 0, cost: 0 }, resetsAt: null };
  const sums = async (): Promise<Record<string, object>> => {
    const keys = {
      run: `run:${tenant}-a`,
      session: `session:${tenant}:s`,
      tenant_day: `tenant_day:2027-01-15:${tenant}`,
    };
    const found: Record<string, object> = {};
    for (const [name, key] of Object.entries(keys)) {
      const sum = await store.sum({ ...place, name: 'run', key, tenant });
      if (sum && sum.tokens > 0) found[name] = { tokens: sum.tokens, cost: sum.cost };
    }
    return found;
  };
  const today = () => ({ ...place, name: 'tenant_day' as const, key: `tenant_day:2027-01-15:${tenant}`, tenant });

  beforeAll(async () => {
    // MariaDB is shared by several nodes only with Redis; no test here sends a request to that Redis.
    const env = { DATABASE_URL: created().url, ...(kind === 'mariadb' && { REDIS_URL: 'redis://127.0.0.1:1' }) };
    const { config } = loadConfig({ env });
    const open = () => openPersistence(config.database, { entities: [], migrations: LLM_MIGRATIONS });
    opened = await open();
    other = kind === 'sqlite' ? opened : await open();
  });
  beforeEach(() => {
    store = newStore(opened);
    otherStore = other === opened ? store : newStore(other);
    tenant = `t${++tenants}`;
    vi.spyOn(Date, 'now').mockReturnValue(NOON);
  });
  afterEach(() => void vi.restoreAllMocks());
  afterAll(async () => {
    if (other !== opened) await other.close();
    await opened.close();
  });

  it('admit exactly as many of 100 simultaneous calls on two nodes as fit', async () => {
    const nodes = [budget({ tenantDay: { tokens: 370 } }), budget({ tenantDay: { tokens: 370 } }, otherStore)];
    const asked = Array.from({ length: 100 }, async (_, at) => nodes[at % 2]!.reserve(account(`r${at}`), CALL));
    const ended = await Promise.allSettled(asked);
    const faults = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
    expect(faults.map((fault) => (fault as { code?: string }).code)).toEqual(Array(63).fill('BUDGET_EXCEEDED'));
    expect(await sums()).toEqual({ tenant_day: { tokens: 370, cost: 740_000 } });
    const held = ended.flatMap((one) => (one.status === 'fulfilled' ? [one.value!] : []));
    await Promise.all(held.map(async (one) => one.settle(took(3, 0.000_001))));
    expect(await sums()).toEqual({ tenant_day: { tokens: 111, cost: 37_000 } });
  });

  it('write usage that no journal contains to the database at once', async () => {
    const daily = budget({ tenantDay: { tokens: 370 } });
    await (await daily.reserve(account('a'), CALL))!.settle(took(3));
    await (await daily.reserve({ ...account('b'), isJournaled: false }, CALL))!.settle(took(4));
    expect(await new SharedBudgetStore(opened.database).sum(today())).toMatchObject({ tokens: 7 });
  });

  it('report the spent amount and the reset time', async () => {
    const daily = budget({ tenantDay: { cost: 0.00003 } });
    await (await daily.reserve(account('a'), CALL))!.settle(took(8, 0.000016));
    await expect(daily.reserve(account('b'), CALL)).rejects.toMatchObject({
      code: 'BUDGET_EXCEEDED',
      isRetryable: false,
      details: {
        budget: 'tenant_day',
        unit: 'cost',
        limit: 0.00003,
        spent: 0.000016,
        wanted: 0.00002,
        resets_at: '2027-01-16T00:00:00.000Z',
      },
    });
    vi.spyOn(Date, 'now').mockReturnValue(NOON + 12 * HOUR_MS);
    expect(await daily.reserve(account('b'), CALL)).not.toBeNull();
  });

  it('count a repeated step once and settle it once', async () => {
    const both = budget({ run: { tokens: 25 }, session: { tokens: 100 } });
    const first = (await both.reserve(account('a'), CALL))!;
    const again = (await both.reserve(account('a'), CALL))!;
    expect(await sums()).toMatchObject({ run: { tokens: 10 }, session: { tokens: 10 } });
    await first.settle(took(7));
    expect(await sums()).toMatchObject({ run: { tokens: 10 } });
    await again.settle(took(6));
    await again.settle(took(6));
    expect(await sums()).toMatchObject({ run: { tokens: 6 }, session: { tokens: 6 } });
    await (await both.reserve(account('a'), CALL))!.settle(took(9));
    const failed = (await both.reserve(account('a', 'model:2'), CALL))!;
    await expect(both.reserve(account('a', 'model:3'), CALL)).rejects.toMatchObject({
      details: { budget: 'run', spent: 19, limit: 25, resets_at: null },
    });
    await failed.settle({ kind: 'refused' });
    const { usage: _none, ...uncounted } = says('a');
    await (await both.reserve(account('a', 'model:3'), CALL))!.settle({ kind: 'answered', result: uncounted });
    expect(await sums()).toMatchObject({ run: { tokens: 10 }, session: { tokens: 10 } });
  });

  it('extend the reservation of a running reply until the budget is used up', async () => {
    const running = budget({ run: { tokens: 100 }, replyTokens: 40 });
    const unlimited = { ...CALL, request: { messages: [] } };
    const reply = (await running.reserve(account('a'), unlimited))!;
    expect([reply.checkAt, await sums()]).toMatchObject([40, { run: { tokens: 40 } }]);
    await reply.grow('x'.repeat(50), 50, 0);
    expect([reply.checkAt, await sums()]).toMatchObject([90, { run: { tokens: 90 } }]);
    await running.reserve(account('a', 'model:2'), CALL);
    await expect(async () => reply.grow('x'.repeat(45), 95, 0)).rejects.toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: expect.stringContaining('(BUDGET_RUN) is used up'),
    });
    await reply.settle({ kind: 'broken', said: 'x'.repeat(95) });
    expect(await sums()).toMatchObject({ run: { tokens: 105 } });
  });

  it('reserve a share of the remaining budget for a reply without a stream', async () => {
    const shared = budget({ tenantDay: { tokens: 1000 }, replyTokens: 40 });
    const unlimited = { ...CALL, request: { messages: [] } };
    const reply = (await shared.reserve(account('a'), unlimited))!;
    expect(await reply.limitReply(10_000)).toBe(160);
    expect(await sums()).toMatchObject({ tenant_day: { tokens: 160 } });
    const short = (await shared.reserve(account('b'), unlimited))!;
    expect(await short.limitReply(50)).toBe(50);
    const rich = budget({ session: { tokens: 1_000_000 }, replyTokens: 40 });
    expect(await (await rich.reserve(account('c'), unlimited))!.limitReply(10_000)).toBeNull();
  });

  it('count an interrupted reply by its estimated usage, in addition to the repeated step', async () => {
    const both = budget({ run: { tokens: 60 }, session: { cost: 1 } });
    const call = { ...CALL, request: { ...CALL.request, messages: [{ role: 'user' as const, content: 'ask' }] } };
    // A message counts the tokens of its text and four more.
    const first = (await both.reserve(account('a'), call))!;
    await first.settle({ kind: 'broken', said: 'half' });
    await first.settle({ kind: 'broken', said: 'half' });
    expect(await sums()).toEqual({ run: { tokens: 11, cost: 15_000 }, session: { tokens: 11, cost: 15_000 } });
    await (await both.reserve(account('a'), call))!.settle({ kind: 'broken', said: '' });
    await (await both.reserve(account('a'), call))!.settle(took(9));
    await (await both.reserve(account('a'), call))!.settle(took(9));
    expect(await sums()).toMatchObject({ run: { tokens: 27 }, session: { tokens: 27 } });
  });

  it('expire the reservations of a crashed process but count its late settlements', async () => {
    const session = budget({ session: { tokens: 10 } });
    const crashed = (await session.reserve(account('a'), CALL))!;
    await expect(session.reserve(account('b'), CALL)).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
    vi.spyOn(Date, 'now').mockReturnValue(NOON + HOUR_MS);
    const next = (await session.reserve(account('b'), CALL))!;
    await next.settle(took(4));
    await crashed.settle(took(5));
    expect(await sums()).toEqual({ session: { tokens: 9, cost: 0 } });
  });

  it('can be rebuilt from the journal', async () => {
    const all = budget({ run: { tokens: 100 }, tenantDay: { tokens: 100, cost: 1 } });
    const held = (await all.reserve(account('a'), CALL))!;
    vi.spyOn(Date, 'now').mockReturnValue(NOON + 1);
    const usage = (at: number, tokens: number, isOver = false): JournaledUsage => ({
      account: account(isOver ? 'over' : 'a'),
      at,
      isOver,
      tokens,
      cost: 0.25,
    });
    async function* journaled() {
      yield usage(NOON - 24 * HOUR_MS, 1);
      yield usage(NOON, 2);
      yield usage(NOON, 4);
      // Nothing counts in the budget of a finished run any more.
      yield usage(NOON, 8, true);
    }
    // A rebuild is refused while a call is in progress, and when a call ends during the rebuild.
    await opened.database.commit([{ sql: 'DELETE FROM budget_entry WHERE tenant <> ?', params: [tenant] }]);
    const inUse = { code: 'BUDGET_IN_USE', isRetryable: true };
    await expect(all.rebuild(journaled())).rejects.toMatchObject(inUse);
    async function* endingMeanwhile() {
      yield usage(NOON, 2);
      await held.settle(took(50));
    }
    await expect(all.rebuild(endingMeanwhile())).rejects.toMatchObject(inUse);
    expect(await sums()).toMatchObject({ run: { tokens: 50 } });
    vi.spyOn(Date, 'now').mockReturnValue(NOON + 2);
    expect(await all.rebuild(journaled())).toBe(3);
    expect(await sums()).toMatchObject({ run: { tokens: 7 } });
    expect(await sums()).toMatchObject({ tenant_day: { tokens: 14, cost: 750_000_000 } });
  });
});
