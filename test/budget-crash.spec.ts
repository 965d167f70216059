import { expect, it, jest } from '@jest/globals';
import { setTimeout as passes } from 'node:timers/promises';
import { byTurn } from './support/forks.js';
import { ProcessWorld } from './support/process-world.js';
import { openDatabase } from './support/run-host.js';

// Processes start: on a busy machine that takes its time.
jest.setTimeout(60_000);

const CALL = { calls: [{ name: 'read_step', arguments: { step: 1 } }], usage: [50, 10] } as const;
/** Between two kills. */
const RUNS = 30;
const KILLED = 4;

const world = ProcessWorld.prepare();

it('the sums of budgets are what the journal tells, however often the server was killed', async () => {
  const reply = byTurn(CALL, { text: 'done', usage: [70, 5] });
  let asked = 0;
  // So that some are asked and others told at any moment.
  world.llm.always((request) => ({ ...reply(request), gate: passes(10 + (asked++ % 7) * 5) }));
  const env = { BUDGET_RUN: 'tokens=100000', BUDGET_TENANT_DAY: 'tokens=10000000' };
  let server = await world.start(env);
  const ids: string[] = [];
  for (let killed = 0; killed < KILLED; killed++) {
    const from = world.llm.requests.length;
    const begun = Array.from({ length: RUNS }, () => server.post('/api/agent/runs', { query: 'go' }));
    ids.push(...(await Promise.all(begun)).map(({ body }) => String(body['run_id'])));
    // In the midst of them: each asks twice.
    await world.llm.waitForRequest(from + RUNS);
    await server.kill();
    server = await world.start(env);
  }
  for (const id of ids) await (await server.follow(id)).all();
  await server.kill();

  const opened = await openDatabase({ DATA_DIR: world.folder });
  const told = 'SELECT run_id AS id, SUM(total_tokens) AS tokens FROM run_usage GROUP BY run_id ORDER BY run_id';
  const counted = "SELECT scope, tokens FROM budget_total WHERE scope LIKE 'run:%' ORDER BY scope";
  const usages = await opened.database.query<{ id: string; tokens: number }>(told);
  expect(usages).toHaveLength(KILLED * RUNS);
  expect(await opened.database.query(counted)).toEqual(
    usages.map(({ id, tokens }) => ({ scope: `run:${id}`, tokens })),
  );
  const all = usages.reduce((sum, { tokens }) => sum + tokens, 0);
  const days = await opened.database.query<{ tokens: number }>(
    "SELECT tokens FROM budget_total WHERE scope LIKE 'tenant_day:%'",
  );
  expect(days.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(all);
  await opened.close();
});
