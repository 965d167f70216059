import { expect, it } from 'vitest';
import { ProcessWorld } from './support/process-world.js';

const world = ProcessWorld.prepare();
const stepOf = (name: string, step: number) => ({ id: `of ${step}`, name, arguments: { step } });

it('files of a call survive kill -9 before the next model call, and later files continue their numbers', async () => {
  const { llm } = world;
  const env = { LLM_MODEL: 'gpt-4o' };
  const calls = [stepOf('filed_step', 1), stepOf('read_step', 2)];
  llm.reply({ calls }, { calls: [stepOf('filed_step', 3)] }, { text: 'all done' });
  const first = await world.start({ ...env, BLOCK_AT: 'read_step 2' });
  const stream = await first.stream({ query: 'go', sessionId: 'filed' });
  await stream.waitFor('tool.completed');
  await first.waitForLine('performing read_step 2');
  await first.kill();
  const second = await world.start(env);
  expect((await second.events(stream.runId)).at(-1)).toMatchObject({ event: 'run.completed' });
  expect(world.effects().toSorted(byStep)).toEqual(['filed_step 1', 'read_step 2', 'read_step 2', 'filed_step 3']);

  const data = '[file 1: application/octet-stream, 900 bytes]';
  const results = (await second.messages('filed')).filter(({ role }) => role === 'tool');
  expect(results.map(({ content }) => content)).toEqual([
    JSON.stringify({ did: 'did step 1', data, picture: '[file 2: image/png, 70 bytes]' }),
    'did step 2',
    JSON.stringify({
      did: 'did step 3',
      data: data.replace('1', '3'),
      picture: '[file 4: image/png, 70 bytes]',
    }),
  ]);
  const images = llm.lastRequest.messages.filter(({ role }) => role === 'user').slice(1);
  expect(JSON.stringify(images).match(/data:image\/png;base64,/g)).toHaveLength(2);
  const file = await fetch(`${second.url}/api/runs/${stream.runId}/files/1`);
  expect(Buffer.from(await file.arrayBuffer())).toEqual(Buffer.alloc(900, 0xff));
});

/** Calls of one reply run concurrently. */
function byStep(one: string, other: string): number {
  return Number(one.at(-1)) - Number(other.at(-1));
}
