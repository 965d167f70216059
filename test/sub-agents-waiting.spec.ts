import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '../src/persistence/index.js';
import { RunRetentionService } from '../src/run/retention/run-retention.service.js';
import { ask, callsThen, AgentTree, type Voice } from './support/run-tree.js';

const pays: Voice = callsThen([{ id: 'p', name: 'pay', arguments: { to: 'bob', amount: 5 } }], ([done]) =>
  String(done),
);
const DAY_MS = 86_400_000;

describe('an agent that asks another agent whose run waits for people', () => {
  let tree: AgentTree;
  beforeEach(async () => {
    tree = await AgentTree.begin(
      {
        boss: { subAgents: ['clerk', 'scout'] },
        clerk: { subAgents: ['cashier'] },
        cashier: {},
        scout: {},
        hasty: { subAgents: ['clerk'], limits: { runTimeoutMs: 700 } },
      },
      { env: { RUN_CONCURRENCY: '1' } },
    );
  });
  afterEach(() => tree.stop());

  /** Starts a run that waits for the run of another agent. @returns the ids of both runs */
  async function askAndWait(body: Readonly<Record<string, unknown>> = {}): Promise<{ runId: string; childId: string }> {
    const answer = await tree.jackdaw.chat({ query: 'pay bob', ...body });
    const runId = String(answer.body['run_id']);
    const [request] = answer.body['waiting'] as unknown as { kind: string; child_run_id: string }[];
    expect([answer.status, request?.kind]).toEqual([202, 'child']);
    return { runId, childId: request!.child_run_id };
  }

  const statusOf = async (id: string) => (await tree.run(id))['status'];

  it('waits as a stored row: after a restart a person decides about the child run, and both runs end', async () => {
    tree.say({ boss: callsThen([ask('clerk', 'pay')]), clerk: pays });
    const { runId, childId } = await askAndWait({ sessionId: 's' });
    expect(await tree.run(runId)).toMatchObject({
      status: 'waiting',
      waiting: [
        {
          id: 'child:1:1',
          step: 'tool:1:1',
          tool: 'ask_clerk',
          child_run_id: childId,
          reason: `Run "${childId}" waits for approval (pay): decide there.`,
          expires_at: null,
        },
      ],
    });
    const wrong = await tree.jackdaw.post(`/api/runs/${runId}/approve`, {});
    expect([wrong.status, wrong.body['code']]).toEqual([409, 'RUN_NOT_WAITING']);
    expect(wrong.body['detail']).toContain(`run "${childId}"`);

    await tree.restart();
    expect([await statusOf(runId), await statusOf(childId)]).toEqual(['waiting', 'waiting']);
    expect((await tree.jackdaw.post(`/api/runs/${childId}/approve`, {})).status).toBe(202);
    const events = await tree.untilEnd(runId);
    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'paid 5 to bob' } });
    expect([tree.asked(), tree.tools.done]).toEqual([['boss', 'clerk', 'clerk', 'boss'], ['pay bob 5']]);
    expect(await tree.run(runId)).toMatchObject({ status: 'completed', tool_results: [{ success: true }] });
  });

  it('waits for a run that waits for another one, and resumes through both', async () => {
    tree.say({ boss: callsThen([ask('clerk', 'pay')]), clerk: callsThen([ask('cashier', 'pay')]), cashier: pays });
    const { runId, childId } = await askAndWait();
    const [request] = (await tree.run(childId))['waiting'] as unknown as { child_run_id: string }[];
    await tree.jackdaw.post(`/api/runs/${request!.child_run_id}/deny`, { reason: 'no money' });
    const events = await tree.untilEnd(runId);
    expect(events.at(-1)!.data['result']).toMatch(/Denied by local: no money/);
    expect(tree.tools.done).toEqual([]);
  });

  it('retains the answers of finished child runs, and asks them no more', async () => {
    tree.say({
      boss: callsThen([ask('clerk', 'pay'), ask('scout', 'look')], (results) => results.join('; ')),
      clerk: pays,
      scout: () => ({ text: 'seen' }),
    });
    const { runId, childId } = await askAndWait();
    await tree.jackdaw.post(`/api/runs/${childId}/approve`, {});
    const events = await tree.untilEnd(runId);
    expect(events.at(-1)).toMatchObject({ data: { result: 'paid 5 to bob; seen' } });
    expect(tree.asked().filter((agent) => agent === 'scout')).toHaveLength(1);
  });

  it('resumes at the next start after a crash between the end of the child run and its notification', async () => {
    tree.say({ boss: callsThen([ask('clerk', 'pay')]), clerk: pays });
    const { runId, childId } = await askAndWait();
    const database = tree.jackdaw.app.get(Database);
    const child = (parent: string) =>
      database.commit([{ sql: 'UPDATE run SET parent_run_id = ? WHERE id = ?', params: [parent, childId] }]);
    // The parent receives no notification: the rows equal those after a crash at this point.
    await child(childId);
    await tree.jackdaw.post(`/api/runs/${childId}/approve`, {});
    await tree.jackdaw.events(childId);
    await child(runId);
    expect(await statusOf(runId)).toBe('waiting');
    await tree.restart();
    expect((await tree.untilEnd(runId)).at(-1)).toMatchObject({ event: 'run.completed' });
  });

  it('cancels the waiting runs below it when it is cancelled', async () => {
    tree.say({ boss: callsThen([ask('clerk', 'pay')]), clerk: callsThen([ask('cashier', 'pay')]), cashier: pays });
    const { runId, childId } = await askAndWait();
    const [request] = (await tree.run(childId))['waiting'] as unknown as { child_run_id: string }[];
    expect((await tree.jackdaw.post(`/api/runs/${runId}/cancel`)).status).toBe(202);
    expect((await tree.untilEnd(runId)).at(-1)?.event).toBe('run.cancelled');
    const statuses = [runId, childId, request!.child_run_id].map(statusOf);
    expect(await Promise.all(statuses)).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect([tree.asked(), tree.tools.done]).toEqual([['boss', 'clerk', 'cashier'], []]);
  });

  it('is notified when the child run is cancelled', async () => {
    tree.say({ boss: callsThen([ask('clerk', 'pay')]), clerk: pays });
    const { runId, childId } = await askAndWait();
    await tree.jackdaw.post(`/api/runs/${childId}/cancel`);
    const [completed, end] = (await tree.untilEnd(runId)).filter(({ event }) => /^(tool|run)\.completed$/.test(event));
    expect(completed).toMatchObject({ data: { success: false, code: 'TOOL_CANCELLED', child_run_id: childId } });
    expect(end!.data['result']).toMatch(/agent "clerk" was cancelled/);
  });

  it('closes the child run’s model connection when it is cancelled, and makes no further request', async () => {
    tree.say({ boss: callsThen([ask('clerk', 'q')]), clerk: () => ({ hang: true }) });
    const stream = await tree.jackdaw.stream({ query: 'go' });
    await tree.llm.waitForRequest(2);
    const [childId] = (await tree.run(stream.runId))['child_run_ids'] as unknown as string[];
    await tree.jackdaw.post(`/api/runs/${stream.runId}/cancel`);
    await tree.llm.waitForAbort();
    const events = await stream.all();
    expect(events.at(-1)?.event).toBe('run.cancelled');
    expect(events.find(({ event }) => event === 'tool.completed')).toMatchObject({ data: { code: 'TOOL_CANCELLED' } });
    expect([await statusOf(childId!), tree.asked()]).toEqual(['cancelled', ['boss', 'clerk']]);
  });

  it('waits for any number of child runs: one that waits for a person occupies no place of the concurrency limit', async () => {
    tree.say({ boss: callsThen(Array.from({ length: 10 }, () => ask('clerk', 'pay'))), clerk: pays });
    const { status, body } = await tree.jackdaw.chat({ query: 'pay all' });
    const waiting = body['waiting'] as unknown as { child_run_id: string }[];
    expect([status, waiting.length]).toEqual([202, 10]);
    await tree.restart();
    for (const { child_run_id } of waiting.toReversed()) {
      expect((await tree.jackdaw.post(`/api/runs/${child_run_id}/approve`, {})).status).toBe(202);
    }
    const events = await tree.untilEnd(String(body['run_id']));
    expect(events.at(-1)).toMatchObject({
      event: 'run.completed',
      data: { result: Array(10).fill('paid 5 to bob').join() },
    });
    expect(tree.tools.done).toHaveLength(10);
  });

  it('never starts, once it is cancelled, the child runs that wait for a place', async () => {
    tree.say({
      boss: callsThen(Array.from({ length: 10 }, () => ask('clerk', 'q'))),
      clerk: () => ({ hang: true }),
    });
    const stream = await tree.jackdaw.stream({ query: 'go', sessionId: 'many' });
    await tree.llm.waitForRequest(9);
    await tree.jackdaw.post(`/api/runs/${stream.runId}/cancel`);
    const events = await stream.all();
    expect(events.at(-1)?.event).toBe('run.cancelled');
    const results = events.filter(({ event }) => event === 'tool.completed');
    expect(results.map(({ data }) => 'child_run_id' in data)).toEqual([...Array(8).fill(true), false, false]);
    expect(tree.asked()).toHaveLength(9);
    expect(await tree.jackdaw.messages('many')).toHaveLength(12);
  });

  it('ends with its child runs at its deadline', async () => {
    tree.say({ hasty: callsThen([ask('clerk', 'q')]), clerk: () => ({ hang: true }) });
    const { status, body } = await tree.jackdaw.chat({ query: 'go', agent: 'hasty' });
    expect([status, body['code']]).toEqual([504, 'RUN_TIMEOUT']);
    const [childId] = (await tree.run(String(body['run_id'])))['child_run_ids'] as unknown as string[];
    expect(await statusOf(childId!)).toBe('cancelled');
  });

  it('has child runs that expire with the top run, and are erased with its user', async () => {
    tree.say({ boss: callsThen([ask('scout', 'q')]), scout: () => ({ text: 'seen' }) });
    const { body } = await tree.jackdaw.chat({ query: 'go', sessionId: 's' });
    const runId = String(body['run_id']);
    const [childId] = (await tree.run(runId))['child_run_ids'] as unknown as string[];
    const database = tree.jackdaw.app.get(Database);
    const retention = tree.jackdaw.app.get(RunRetentionService);
    // The child ended long ago; the run that called it ended now.
    const params = [Date.now() - 100 * DAY_MS, childId!];
    await database.commit([{ sql: 'UPDATE run SET finished_at = ? WHERE id = ?', params }]);
    expect(await retention.sweep(Date.now())).toBe(0);
    expect(await retention.sweep(Date.now() + 91 * DAY_MS)).toBe(2);
    const erased = await tree.jackdaw.send('/api/users/local', { method: 'DELETE' });
    expect(erased.body).toMatchObject({ runs: 2, sessions: 2 });
  });
});
