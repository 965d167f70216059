import { expect, it } from 'vitest';
import type { FakeRequest } from './support/fake-llm.types.js';
import { gate } from './support/jackdaw.js';
import { ProcessWorld } from './support/process-world.js';
import { stepByStep } from './support/step-script.js';
import { itInLongForm } from './support/long-form.js';

const world = ProcessWorld.prepare();

it('a run that kills its process three times in the same step is ended by the next process, with a valid history', async () => {
  world.llm.always(stepByStep('read_step'));
  const first = await world.start({ DIE_AT: 'read_step 2' });
  const { runId } = await first.stream({ query: 'do five steps', sessionId: 's' });
  await first.ended;
  for (let crash = 2; crash <= 3; crash++) {
    // Recovery starts when the server listens, and kills it.
    const next = await world.start({ DIE_AT: 'read_step 2' });
    expect(await next.ended).toMatchObject({ signal: 'SIGKILL' });
  }
  const last = await world.start({ DIE_AT: 'read_step 2' });
  expect((await last.events(runId)).at(-1)).toMatchObject({
    event: 'run.failed',
    data: { error: { code: 'RUN_POISONED' } },
  });
  expect(world.effects()).toEqual(['read_step 1', 'read_step 2', 'read_step 2', 'read_step 2']);
  const messages = await last.messages('s');
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool']);
  world.llm.always({ text: 'fine' });
  expect((await last.chat({ query: 'and now?', sessionId: 's' })).body).toMatchObject({ result: 'fine' });
});

itInLongForm(
  'ten innocent runs beside it complete, although no step of theirs was recorded before the third crash',
  async () => {
    let isUp = false;
    const queryOf = ({ messages }: FakeRequest) => String(messages.find(({ role }) => role === 'user')?.content);
    const innocents = Array.from({ length: 10 }, (_, i) => `innocent ${i}`);
    // In the first two processes the fatal step waits until all runs are in flight.
    const waiting = gate();
    world.llm.always(async (request) => {
      if (queryOf(request) !== 'fatal') return isUp ? stepByStep('idempotent_step')(request) : { hang: true };
      await waiting.opened;
      return stepByStep('read_step')(request);
    });
    const env = { DIE_AT: 'read_step 1' };
    const first = await world.start(env);
    const runIds: string[] = [];
    for (const query of ['fatal', ...innocents]) {
      runIds.push(String((await first.post('/api/agent/runs', { query })).body['run_id']));
    }
    await world.llm.waitForRequest(11);
    waiting.open();
    await first.ended;
    for (let crash = 2; crash <= 3; crash++)
      expect(await (await world.start(env)).ended).toMatchObject({ signal: 'SIGKILL' });
    isUp = true;
    const last = await world.start(env);
    const ends = await Promise.all(runIds.map(async (runId) => (await last.events(runId)).at(-1)));
    expect(ends[0]).toMatchObject({ event: 'run.failed', data: { error: { code: 'RUN_POISONED' } } });
    for (const end of ends.slice(1))
      expect(end).toMatchObject({ event: 'run.completed', data: { result: 'all done' } });
    expect(world.effects().filter((effect) => effect === 'read_step 1')).toHaveLength(3);
  },
);
