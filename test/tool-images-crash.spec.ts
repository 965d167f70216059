import { expect, it } from 'vitest';
import { ProcessWorld } from './support/process-world.js';

const world = ProcessWorld.prepare();
const stepOf = (name: string, step: number) => ({ id: `of ${step}`, name, arguments: { step } });

it('an image of a tool survives kill -9, and is sent to the model again', async () => {
  const { llm } = world;
  const env = { LLM_MODEL: 'gpt-4o' };
  llm.reply({ calls: [stepOf('pictured_step', 1)] }, { calls: [stepOf('read_step', 2)] }, { text: 'all done' });
  const first = await world.start({ ...env, BLOCK_AT: 'read_step 2' });
  const stream = await first.stream({ query: 'go', sessionId: 'pictured' });
  await first.waitForLine('performing read_step 2');
  await first.kill();
  const second = await world.start(env);
  expect((await second.events(stream.runId)).at(-1)).toMatchObject({ event: 'run.completed' });
  expect(world.effects()).toEqual(['pictured_step 1', 'read_step 2', 'read_step 2']);
  const { messages } = llm.lastRequest;
  expect(messages.map(({ role }) => role).slice(-5)).toEqual(['assistant', 'tool', 'user', 'assistant', 'tool']);
  const shown = messages.at(-3)?.content as unknown[];
  expect(shown).toEqual([{ type: 'image_url', image_url: expect.anything() }]);
  const stored = (await second.messages('pictured')).filter(({ images }) => images);
  expect(stored).toMatchObject([{ tool_call_id: 'of 1', images: [(shown[0] as { image_url: object }).image_url] }]);
});
