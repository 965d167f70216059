import { expect, it } from 'vitest';
import { setTimeout as passes } from 'node:timers/promises';
import { byTurn } from './support/forks.js';
import { gate } from './support/jackdaw.js';
import { ProcessWorld } from './support/process-world.js';
import { openDatabase } from './support/run-host.js';

const CALL = { calls: [{ name: 'read_step', arguments: { step: 1 } }], usage: [50, 10] } as const;
/** Runs between two kills. */
const RUNS = 30;
const KILLED = 4;

const world = ProcessWorld.prepare();

interface Sum {
  readonly id: string;
  readonly tokens: number;
}

/** Usage by the journal and by the budgets: of all sessions, and of unfinished runs. */
async function read() {
  const opened = await openDatabase({ DATA_DIR: world.folder });
  const { database } = opened;
  const reported = (column: string, where: string) =>
    database.query<Sum>(
      `SELECT u.${column} AS id, SUM(u.total_tokens) AS tokens FROM run_usage u JOIN run ON run.id = u.run_id
        WHERE ${where} GROUP BY u.${column} ORDER BY u.${column}`,
    );
  const counted = async (kind: string) => {
    const sql = 'SELECT scope, tokens FROM budget_total WHERE scope LIKE ? ORDER BY scope';
    const rows = await database.query<{ scope: string; tokens: number }>(sql, [`${kind}%`]);
    return rows.map(({ scope, tokens }) => ({ id: scope.slice(kind.length), tokens }));
  };
  const found = {
    reported: {
      runs: await reported('run_id', "run.status IN ('queued', 'running')"),
      sessions: await reported('session_id', '1 = 1'),
    },
    counted: { runs: await counted('run:'), sessions: await counted('session:default:') },
    days: await counted('tenant_day:'),
  };
  await opened.close();
  return found;
}

const all = (sums: readonly Sum[]) => sums.reduce((sum, { tokens }) => sum + tokens, 0);

it("the budget totals equal the journal's usage after repeated kills of the server", async () => {
  const reply = byTurn(CALL, { text: 'done', usage: [70, 5] });
  let asked = 0;
  let held = gate();
  let arrived = gate();
  // Different delays, so that at any moment some calls are pending and others finished; some second calls wait for the kill.
  world.llm.always((request) => {
    asked++;
    const isHeld = asked % 3 === 0 && request.messages.at(-1)?.role === 'tool';
    if (isHeld) arrived.open();
    return { ...reply(request), gate: isHeld ? held.opened : passes(10 + (asked % 7) * 5) };
  });
  const env = { BUDGET_RUN: 'tokens=100000', BUDGET_SESSION: 'tokens=100000', BUDGET_TENANT_DAY: 'tokens=10000000' };
  let server = await world.start(env);
  const ids: string[] = [];
  let running = 0;
  for (let killed = 0; killed < KILLED; killed++) {
    const from = world.llm.requests.length;
    held = gate();
    arrived = gate();
    const started = Array.from({ length: RUNS }, (_, n) =>
      server.post('/api/agent/runs', { query: 'go', sessionId: `${killed}-${n}` }),
    );
    ids.push(...(await Promise.all(started)).map(({ body }) => String(body['run_id'])));
    // In the middle of the runs: each makes two model calls.
    await world.llm.waitForRequest(from + RUNS);
    await arrived.opened;
    await server.kill();
    held.open();
    const { reported, counted } = await read();
    expect(counted).toEqual(reported);
    running += reported.runs.length;
    server = await world.start(env);
  }
  for (const id of ids) await (await server.follow(id)).all();
  await server.kill();

  const { reported, counted, days } = await read();
  expect(reported.sessions).toHaveLength(KILLED * RUNS);
  expect(reported.runs).toEqual([]);
  expect(counted).toEqual(reported);
  expect(all(days)).toBe(all(reported.sessions));
  // Otherwise the test did not check the total of any single run.
  expect(running).toBeGreaterThan(0);
});
