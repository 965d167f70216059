import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { Logger } from '@nestjs/common';
import { newId } from '../src/kernel/index.js';
import { loadConfig } from '../src/config/index.js';
import { LLM_MIGRATIONS } from '../src/llm/index.js';
import type { BudgetEntry, BudgetScope } from '../src/llm/budget/budget.types.js';
import { limitsOf, scopesOf } from '../src/llm/budget/model-budget.js';
import { SharedBudgetStore } from '../src/llm/budget/shared-budget.store.js';
import { openPersistence } from '../src/persistence/shared-persistence.registry.js';
import type { OpenPersistence } from '../src/persistence/persistence.types.js';
import { describeDatabases, testServers } from './support/test-databases.js';

Logger.overrideLogger(false);
const servers = await testServers();
const NOON = Date.UTC(2027, 0, 15, 12);
const DAY_MS = 86_400_000;
const LIMIT = { tokens: 100 };
const LIMITS = { run: LIMIT, session: LIMIT, tenantDay: LIMIT, day: LIMIT };

describeDatabases('pruning budgets', servers, (created) => {
  let opened: OpenPersistence;
  let store: SharedBudgetStore;
  let entry: BudgetEntry;
  let scopes: readonly BudgetScope[];
  const namesLeft = async (): Promise<string[]> => {
    const rows = await opened.database.query<{ scope: string }>('SELECT scope FROM budget_total ORDER BY scope');
    return rows.map(({ scope }) => scope.split(':')[0]!);
  };

  beforeAll(async () => {
    const { config } = loadConfig({ env: { DATABASE_URL: created().url } });
    opened = await openPersistence(config.database, { entities: [], migrations: LLM_MIGRATIONS });
  });
  beforeEach(async () => {
    vi.spyOn(Date, 'now').mockReturnValue(NOON);
    const account = { tenant: 't', runId: newId(), sessionId: 's' };
    const own = [{ agent: 'a', runId: account.runId, limits: LIMITS }];
    scopes = scopesOf({ ...account, own }, limitsOf({ replyTokens: 0, ...LIMITS }), NOON);
    const amount = { tokens: 5, cost: 0 };
    const { runId } = account;
    const keys = scopes.map(({ key }) => key);
    entry = { ...amount, id: `${runId}:model:1`, runId, tenant: 't', holder: 'h', scopes: keys, expiresAt: NOON + 1 };
    store = new SharedBudgetStore(opened.database);
    await store.open(scopes, NOON);
    await store.reserve(entry, null, scopes, NOON);
    await store.settle(entry, amount, NOON);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await opened.database.commit([{ sql: 'DELETE FROM budget_total', params: [] }]);
  });
  afterAll(() => opened.close());

  it('deletes calls a day after their settlement', async () => {
    await store.prune(NOON + DAY_MS - 1);
    expect(await store.find(entry.id)).toMatchObject({ tokens: 5, expiresAt: null });
    await store.prune(NOON + DAY_MS + 1);
    expect(await store.find(entry.id)).toBeNull();
  });

  it('deletes the totals of days after 32 days and of runs after 400, but not those of sessions', async () => {
    const all = ['agent_day', 'agent_run', 'agent_session', 'agent_tenant_day', 'day', 'run', 'session', 'tenant_day'];
    expect(await namesLeft()).toEqual(all);
    await store.prune(NOON + 32 * DAY_MS);
    expect(await namesLeft()).toEqual(all);
    await store.prune(NOON + 34 * DAY_MS);
    expect(await namesLeft()).toEqual(['agent_run', 'agent_session', 'run', 'session']);
    await store.prune(NOON + 399 * DAY_MS);
    expect(await namesLeft()).toEqual(['agent_run', 'agent_session', 'run', 'session']);
    await store.prune(NOON + 401 * DAY_MS);
    expect(await namesLeft()).toEqual(['agent_session', 'session']);
  });
});
