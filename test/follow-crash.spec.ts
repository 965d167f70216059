import { expect, it } from 'vitest';
import { gate } from './support/jackdaw.js';
import { ProcessWorld } from './support/process-world.js';

const world = ProcessWorld.prepare();

it('a client in the middle of a message gets step.restarted after a kill of the server', async () => {
  const open = gate();
  world.llm.reply({ text: 'one two three', stallAfter: 3 }).reply({ gate: open.opened, text: 'uno dos tres' });
  const first = await world.start();
  const stream = await first.stream({ query: 'count' });
  await stream.waitForText('one two');
  const place = stream.events.at(-1)!.place!;
  expect(place).toMatch(/^1\.1\d+\.7$/);
  await first.kill();

  const second = await world.start();
  await world.llm.waitForRequest(2);
  const back = await second.follow(stream.runId, place);
  const restarted = await back.waitFor('step.restarted');
  expect(restarted.data).toEqual({ type: 'step.restarted', iteration: 1, text: '' });
  // A client whose last event is the takeover may still display the old text.
  const numbered = await second.follow(stream.runId, 2);
  await numbered.waitFor('step.restarted');
  open.open();
  const published = (await back.all()).filter(({ event }) => event !== 'step.started');
  // The server joins pieces of text that arrive together.
  const isNew = (event: string, at: number) => event !== 'message.delta' || published[at - 1]?.event !== event;
  expect(published.map(({ event }) => event).filter(isNew)).toEqual([
    'run.resumed',
    'step.restarted',
    'message.delta',
    'message.completed',
    'usage',
    'run.completed',
  ]);
  expect([back.deltas(), numbered.deltas()]).toEqual(['uno dos tres', 'uno dos tres']);
  expect(published.at(-1)?.data).toMatchObject({ result: 'uno dos tres' });
});
