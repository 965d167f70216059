import { describe, expect, it } from 'vitest';
import { byTurn, call, double, ForkWorld, STEPS } from './support/forks.js';
import { gate } from './support/jackdaw.js';

const world = ForkWorld.prepare();

describe('a fork without edits', () => {
  it.each([
    { from: 'value:window', copied: 0, asked: 3, called: [1, 5, 'x'] },
    { from: 'model:1', copied: 1, asked: 3, called: [1, 5, 'x'] },
    { from: 'tool:1:1', copied: 2, asked: 2, called: [1, 5, 'x'] },
    { from: 'tool:1:2', copied: 3, asked: 2, called: [5, 'x'] },
    { from: 'model:2', copied: 4, asked: 2, called: [5] },
    { from: 'tool:2:1', copied: 5, asked: 1, called: [5] },
    { from: 'model:3', copied: 6, asked: 1, called: [] },
  ])('from $from repeats only the later steps', async ({ from, copied, asked, called }) => {
    const { runId, sessionId } = await world.talk();
    const before = await world.forks.journal(runId);
    expect(before.steps.map(({ name }) => name)).toEqual(STEPS);
    const fork = await world.forks.make(runId, from);

    expect(world.llm.requests).toHaveLength(asked);
    const inputs = world.tools.called.map(([, input]) =>
      typeof input === 'string' ? input : (input as { n: number }).n,
    );
    // The calls of one reply run concurrently.
    expect(new Set(inputs)).toEqual(new Set(called));
    const after = await world.forks.journal(fork.id);
    expect(after.steps.map(({ name }) => name)).toEqual(STEPS);
    expect(after.steps.slice(0, copied)).toEqual(before.steps.slice(0, copied).map((step) => ({ ...step, epoch: 0 })));
    expect(after.steps.slice(copied).map(({ epoch }) => epoch)).toEqual(STEPS.slice(copied).map(() => 2));
    expect(after).toMatchObject({ forked_from: runId, status: 'completed' });

    expect(await world.forks.outcome(fork.id)).toEqual(await world.forks.outcome(runId));
    const messages = async (id: string) =>
      (await world.jackdaw.messages(id)).map(({ created_at: _at, ...message }) => message);
    expect(await messages(fork.sessionId)).toEqual(await messages(sessionId));
    // The original run is unchanged.
    expect(await world.forks.journal(runId)).toEqual(before);
  });

  it('publishes its copied events once, in order, with its own numbers', async () => {
    const { runId } = await world.talk();
    const fork = await world.forks.make(runId, 'model:2');
    const recorded = fork.events.filter(({ id }) => id !== null);
    expect(recorded.map(({ id }) => id)).toEqual(recorded.map((_, i) => i + 1));
    const types = recorded.map(({ event }) => event);
    expect(types.slice(0, 3)).toEqual(['run.started', 'message.completed', 'usage']);
    expect(types.slice(3, 7).toSorted()).toEqual(['tool.completed', 'tool.completed', 'tool.started', 'tool.started']);
    expect(types.slice(7)).toEqual([
      'run.resumed',
      'message.completed',
      'usage',
      'tool.started',
      'tool.completed',
      'message.completed',
      'usage',
      'run.completed',
    ]);
    const runs = recorded.flatMap(({ data }) => ('run_id' in data ? [data['run_id']] : []));
    expect(new Set(runs)).toEqual(new Set([fork.id]));
    expect(recorded.at(-1)!.data).toMatchObject({ usage: { prompt_tokens: 60, completion_tokens: 6 }, iterations: 3 });
  });

  it('sends the model the same history although its source session has a further turn', async () => {
    const { runId, sessionId } = await world.talk();
    world.llm.reply({ text: 'later' });
    await world.jackdaw.chat({ query: 'and then?', sessionId });
    world.reset();
    await world.forks.make(runId, 'model:3');
    expect(world.llm.lastRequest.messages.slice(1, 4).map(({ content }) => content)).toEqual(['hi', 'hello', 'go']);
    expect(JSON.stringify(world.llm.lastRequest.messages)).not.toContain('and then?');
  });

  it('uses the requested session if that session does not exist yet', async () => {
    const { runId, sessionId } = await world.talk();
    const mine = world.newName();
    expect((await world.forks.make(runId, 'model:3', undefined, { sessionId: mine })).sessionId).toBe(mine);
    for (const taken of [mine, sessionId]) {
      const { status, body } = await world.forks.post(runId, { fromStep: 'model:3', sessionId: taken });
      expect([status, body['code']]).toEqual([409, 'SESSION_EXISTS']);
    }
    const session = await world.jackdaw.get(`/api/sessions/${mine}`);
    expect(session.body).toMatchObject({ turn_count: 2, message_count: 9 });
    // The conversation can continue in the new session.
    world.llm.reply({ text: 'more' });
    await world.jackdaw.chat({ query: 'on?', sessionId: mine });
    expect(world.llm.lastRequest.messages).toHaveLength(11);
  });

  it('can be forked again, and the turns of both sessions refer to their own runs', async () => {
    const { runId } = await world.talk();
    const first = await world.forks.make(runId, 'tool:1:2');
    world.reset();
    const second = await world.forks.make(first.id, 'model:3');
    expect([world.llm.requests.length, world.tools.called.length]).toEqual([1, 0]);
    expect(await world.forks.outcome(second.id)).toEqual(await world.forks.outcome(runId));
    const { body } = await world.jackdaw.get(`/api/runs/${second.id}`);
    expect(body['forked_from']).toBe(first.id);
    expect((await world.forks.journal(second.id)).steps.map(({ result }) => result)).toEqual(
      (await world.forks.journal(first.id)).steps.map(({ result }) => result),
    );
  });

  it('starts a session if its source run started one', async () => {
    world.reset();
    const { body } = await world.jackdaw.chat({ query: 'go' });
    const fork = await world.forks.make(String(body['run_id']), 'tool:1:1');
    expect(await world.jackdaw.messages(fork.sessionId)).toHaveLength(7);
    expect(fork.sessionId).not.toBe(body['session_id']);
  });
});

describe('a fork of an unfinished run', () => {
  it('is independent of its source from a pending model call on', async () => {
    const open = gate();
    world.llm.reply({ calls: [double('a', 1)] }, { gate: open.opened, text: 'the first' });
    const stream = await world.jackdaw.stream({ query: 'go' });
    await world.llm.waitForRequest(2);
    const runId = stream.runId;
    world.llm.reply({ text: 'the second' });
    const fork = await world.forks.make(runId, 'model:2');
    expect(fork.events.at(-1)!.data).toMatchObject({ type: 'run.completed', result: 'the second' });
    open.open();
    expect((await stream.all()).at(-1)!.data).toMatchObject({ result: 'the first' });
    expect(world.tools.called).toEqual([['double', { n: 1 }]]);
  });

  it('repeats a pending call in the fork alone', async () => {
    const name = world.newName();
    world.llm.always(byTurn({ calls: [call('w', 'wait', { name }), double('a', 1)] }, { text: 'done' }));
    const stream = await world.jackdaw.stream({ query: 'go' });
    await world.tools.arrived(name);
    await stream.waitFor('tool.completed');
    const runId = stream.runId;
    world.tools.called.length = 0;
    const fork = world.forks.make(runId, 'tool:1:1', { toolResult: 'given' });
    expect((await fork).events.at(-1)!.data).toMatchObject({ result: 'done' });
    expect(world.tools.called).toEqual([['double', { n: 1 }]]);
    world.tools.open(name);
    await stream.all();
  });

  it('copies the claim of a call that must not repeat: the fork waits for settlement', async () => {
    const name = world.newName();
    world.llm.always(byTurn({ calls: [call('p', 'pay', { name }), double('a', 1)] }, { text: 'done' }));
    const stream = await world.jackdaw.stream({ query: 'go' });
    await world.tools.arrived(name);
    await stream.waitFor('tool.completed');
    const runId = stream.runId;
    const fork = await world.forks.make(runId, 'tool:1:2');
    expect(fork.events.at(-1)!.data).toMatchObject({ type: 'run.waiting', reason: 'outcome_unknown' });
    const settled = await world.jackdaw.post(`/api/runs/${fork.id}/settle`, { outcome: 'succeeded', result: 'paid' });
    expect(settled.status).toBe(202);
    const last = Number(fork.events.at(-1)!.id);
    expect((await (await world.jackdaw.follow(fork.id, last)).all()).at(-1)!.data).toMatchObject({ result: 'done' });
    expect(world.tools.called.filter(([tool]) => tool === 'pay')).toHaveLength(1);
    world.tools.open(name);
    await stream.all();
  });

  it('starts at the failed step of a failed run', async () => {
    world.llm.reply({ calls: [double('a', 1)] }, { status: 500 });
    const failed = await world.jackdaw.chat({ query: 'go' });
    expect(failed.status).toBe(502);
    world.llm.reply({ text: 'better' });
    const fork = await world.forks.make(String(failed.body['run_id']), 'model:2');
    expect(fork.events.at(-1)!.data).toMatchObject({ result: 'better' });
    expect(world.tools.called).toHaveLength(1);
  });

  it('can be cancelled, with a consistent turn', async () => {
    const open = gate();
    world.llm.reply({ calls: [double('a', 1)] }, { text: 'end' });
    const { body } = await world.jackdaw.chat({ query: 'go' });
    world.llm.reply({ gate: open.opened, text: 'never' });
    const answer = await world.forks.post(String(body['run_id']), { fromStep: 'model:2' });
    await world.llm.waitForRequest(3);
    const id = String(answer.body['run_id']);
    expect((await world.jackdaw.post(`/api/runs/${id}/cancel`)).status).toBe(202);
    const events = await world.jackdaw.events(id);
    expect(events.at(-1)!.event).toBe('run.cancelled');
    expect((await world.jackdaw.messages(String(answer.body['session_id']))).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
    ]);
    open.open();
  });
});
