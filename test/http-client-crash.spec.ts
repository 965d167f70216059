import { expect, it } from 'vitest';
import { JackdawClient, type RunEvent } from '../src/http-client/index.js';
import { FaultProxy } from './support/fault-proxy.js';
import { gate } from './support/jackdaw.js';
import { ProcessWorld } from './support/process-world.js';

const world = ProcessWorld.prepare();

it('a stream of the client loses and repeats no recorded event when the server is killed and restarted', async () => {
  const open = gate();
  world.llm
    .reply({ calls: [{ name: 'read_step', arguments: { step: 1 } }] })
    .reply({ text: 'one two three', stallAfter: 3 })
    .reply({ gate: open.opened, text: 'uno dos tres' });
  const first = await world.start();
  const port = new URL(first.url).port;
  const proxy = await FaultProxy.start(new URL(first.url), 80);
  const client = new JackdawClient({ baseUrl: proxy.through(first.url) });
  const stream = client.stream({ query: 'count' });
  const received: RunEvent[] = [];
  const ends: Promise<unknown>[] = [];
  for await (const event of stream) {
    received.push(event);
    if (event.type !== 'message.delta' || ends.length > 0) continue;
    await first.kill();
    ends.push(
      world
        .start({ PORT: port })
        .then(() => world.llm.waitForRequest(3))
        .then(open.open),
    );
  }
  await Promise.all(ends);
  await proxy.close();
  const { events } = await new JackdawClient({ baseUrl: first.url }).runs.journal(stream.runId!, { limit: 200 });
  const recorded = new Set(events.map(({ type }) => type));
  expect(received.filter(({ type }) => recorded.has(type))).toEqual(events.map(({ data }) => data));
  expect(events.map(({ type }) => type)).toContain('run.resumed');
  expect(received.at(-1)).toMatchObject({ type: 'run.completed', result: 'uno dos tres' });
  expect(world.effects()).toEqual(['read_step 1']);
});
