import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PeerWorld } from './support/a2a-peers.js';

const PAYS = { calls: [{ id: 'p', name: 'pay', arguments: { to: 'bob', amount: 5 } }] };

describe('an agent that asks an agent of another server', () => {
  let world: PeerWorld;
  beforeAll(async () => {
    world = await PeerWorld.start();
  });
  afterEach(() => world.closeNear());
  afterAll(() => world.stop());

  /** Starts a run that asks the far agent to pay, and waits for the question of the far side. */
  async function question() {
    const before = (await world.tasks()).length;
    world.asks('Pay bob');
    world.farLlm.reply(PAYS, { text: 'Paid.' });
    const { body } = await world.near.chat({ query: 'Pay bob' });
    const {
      run_id: runId,
      status,
      waiting,
    } = body as unknown as {
      run_id: string;
      status: string;
      waiting: { kind: string; tool: string; question: string; call_id: string }[];
    };
    expect([status, waiting]).toMatchObject(['waiting', [{ kind: 'input', tool: 'ask_far' }]]);
    expect(waiting[0]!.question).toContain('Remote agent "ask_far" asks: pay');
    const [far, ...others] = await world.tasks();
    expect(others).toHaveLength(before);
    return { runId, far: far! };
  }

  it('gets its answer, which is untrusted', async () => {
    await world.open();
    world.asks('Say hello');
    world.farLlm.reply({ text: 'Hello' });
    const { body } = await world.near.chat({ query: 'Ask' });
    expect(body).toMatchObject({ result: 'Got: Hello' });
    const events = await world.near.events((body as unknown as { run_id: string }).run_id);
    expect(JSON.stringify(events.at(-1))).toContain('"is_tainted":true');
    expect(world.farLlm.requests[0]!.messages.at(-1)).toMatchObject({ role: 'user', content: 'Say hello' });
  });

  it('has the remaining tokens of the run there, and counts those of a trusted agent', async () => {
    const budget = { BUDGET_RUN: 'tokens=20000' };
    for (const [untrusted, total] of [
      [true, 30],
      [false, 1030],
    ] as const) {
      await world.open({ untrusted }, budget);
      world.asks('Say hello');
      world.farLlm.reply({ text: 'Hello', usage: [900, 100] });
      const { body } = await world.near.chat({ query: 'Ask' });
      expect(body).toMatchObject({ result: 'Got: Hello' });
      const [far] = await world.tasks();
      const exported = await world.far.get(`/api/runs/${far}/export`, world.person.headers);
      const [, tokens] = /"budgetTokens":(\d+)/.exec(exported.text) ?? [];
      expect(Number(tokens)).toBeGreaterThan(15_000);
      expect(Number(tokens)).toBeLessThanOrEqual(20_000);
      const { usage } = body as unknown as { usage: { total_tokens: number } };
      expect([untrusted, usage.total_tokens]).toEqual([untrusted, total]);
      await world.closeNear();
    }
  });

  it('is not asked when the budget of the run has no room', async () => {
    await world.open({}, { BUDGET_RUN: 'tokens=1300', BUDGET_REPLY_TOKENS: '100' });
    world.asks('word '.repeat(2_000));
    const { body } = await world.near.chat({ query: 'Ask' });
    expect(body).toMatchObject({ code: 'BUDGET_EXCEEDED' });
    expect(world.farLlm.requests).toEqual([]);
  });

  it('waits for the approval of a person there, and continues after it', async () => {
    await world.open();
    const { runId, far } = await question();
    const approved = await world.far.post(`/api/runs/${far}/approve`, {}, world.person.headers);
    expect(approved.status).toBe(202);
    expect(await world.until(world.near, runId, 'completed')).toMatchObject({ result: 'Got: Paid.' });
    expect([world.tools.done, (await world.tasks())[0]]).toEqual([['pay bob 5'], far]);
  });

  it('passes the decision of a person here on', async () => {
    await world.open();
    const { runId } = await question();
    await world.near.post(`/api/runs/${runId}/input`, { value: { approved: true } });
    expect(await world.until(world.near, runId, 'completed')).toMatchObject({ result: 'Got: Paid.' });
    expect(world.tools.done).toEqual(['pay bob 5']);
  });

  it('passes the denial of a person here on', async () => {
    await world.open();
    const { runId } = await question();
    await world.near.post(`/api/runs/${runId}/deny`, {});
    await world.until(world.near, runId, 'completed');
    expect(world.tools.done).toEqual([]);
  });

  it('cancels the task when its run is cancelled, also while it waits', async () => {
    await world.open();
    const { runId, far } = await question();
    await world.near.post(`/api/runs/${runId}/cancel`);
    await world.until(world.far, far, 'cancelled', world.person.headers);
    world.farLlm.reset();
    world.farLlm.reply({ hang: true });
    const stream = await world.near.stream({ query: 'Ask' });
    await world.farLlm.waitForRequest(1);
    const [running] = await world.tasks();
    await world.near.post(`/api/runs/${stream.runId}/cancel`);
    await stream.all();
    const ended = await world.until(world.far, running!, 'cancelled', world.person.headers);
    expect(ended).toMatchObject({ finish_reason: 'cancelled' });
  });

  it('cannot reach an address that the operator has not allowed', async () => {
    await world.open({}, { OUTGOING_ALLOW: '' });
    const before = (await world.tasks()).length;
    world.asks('Say hello');
    const { body } = await world.near.chat({ query: 'Ask' });
    expect((body as unknown as { result: string }).result).toContain('OUTGOING_ALLOW');
    expect((await world.tasks()).length).toBe(before);
  });
});
