import { expect, it } from '@jest/globals';
import { ProcessWorld } from './support/process-world.js';
import { stepByStep } from './support/step-script.js';

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
