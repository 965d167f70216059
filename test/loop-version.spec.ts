import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../src/persistence/index.js';
import { LOOP_VERSION } from '../src/reasoning/index.js';
import { double, ForkWorld } from './support/forks.js';
import { gate, newFolder } from './support/jackdaw.js';
import { rmSync } from 'node:fs';

/** Marks a run as recorded by a version of the loop that this version can no longer replay. */
async function outdate(world: ForkWorld, runId: string): Promise<void> {
  const sql = 'UPDATE run SET loop_version = 0 WHERE id = ?';
  await world.jackdaw.app.get(Database).commit([{ sql, params: [runId], rows: 1 }]);
}

describe('a run of an unsupported version of the loop', () => {
  const dataDir = newFolder();
  let world: ForkWorld;
  beforeAll(async () => {
    world = await ForkWorld.start({ dataDir });
  });
  afterAll(async () => {
    await world.stop();
    rmSync(dataDir, { recursive: true });
  });

  it('can be forked only from its first step', async () => {
    const { runId } = await world.talk();
    await outdate(world, runId);
    const refused = await world.forks.post(runId, { fromStep: 'tool:1:1' });
    expect(refused.body).toMatchObject({
      status: 409,
      code: 'RUN_VERSION_UNSUPPORTED',
      run_id: runId,
      loop_version: 0,
    });
    const fork = await world.forks.make(runId, 'model:1');
    expect(world.llm.requests).toHaveLength(3);
    expect(await world.forks.outcome(fork.id)).toEqual(await world.forks.outcome(runId));
    expect((await world.forks.journal(fork.id))['loop_version']).toBe(LOOP_VERSION);
    const before = (await world.jackdaw.messages(fork.sessionId)).slice(0, 2);
    expect(before.map(({ content }) => content)).toEqual(['hi', 'hello']);
  });

  it('fails at recovery, keeps its recorded messages in the session and can still be forked', async () => {
    const never = gate();
    world.llm.reset();
    world.llm.reply({ calls: [double('a', 1)] }, { gate: never.opened });
    const stream = await world.jackdaw.stream({ query: 'go', sessionId: 'cut-off' });
    await world.llm.waitForRequest(2);
    const runId = String(stream.headers['x-run-id']);
    await outdate(world, runId);
    await world.stop();
    never.open();

    world = await ForkWorld.start({ dataDir });
    const last = (await (await world.jackdaw.follow(runId)).all()).at(-1)!;
    expect(last.data).toMatchObject({ type: 'run.failed', error: { code: 'RUN_VERSION_UNSUPPORTED' } });
    const place = { turn: 1, turn_status: 'failed' };
    expect(await world.jackdaw.messages('cut-off')).toEqual([
      { ...place, role: 'user', content: 'go' },
      { ...place, role: 'assistant', content: '', tool_calls: [{ id: 'a', name: 'double', arguments: '{"n":1}' }] },
      { ...place, role: 'tool', tool_call_id: 'a', name: 'double', content: '2' },
    ]);
    expect(world.llm.requests).toHaveLength(0);
    world.reset();
    const fork = await world.forks.make(runId, 'model:1');
    expect(fork.events.at(-1)!.data).toMatchObject({ type: 'run.completed', result: 'the end' });
    // The fork's session does not contain the failed turn of the source run.
    expect(await world.jackdaw.messages(fork.sessionId)).toHaveLength(7);
  });
});
