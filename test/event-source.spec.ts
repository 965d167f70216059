import { afterAll, beforeAll, expect, it } from 'vitest';
import { EventSource } from 'eventsource';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

let jackdaw: Jackdaw;
let events: string;

beforeAll(async () => {
  jackdaw = await startJackdaw();
  const { body } = await jackdaw.chat({ query: 'What is 6 * 7?' });
  events = `${jackdaw.url}/api/runs/${String(body['run_id'])}/events`;
});
afterAll(() => jackdaw.stop());

it('ends an EventSource after the last event of a run that has ended', async () => {
  const statuses: number[] = [];
  const source = new EventSource(events, {
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      statuses.push(response.status);
      return response;
    },
  });
  const received: string[] = [];
  source.addEventListener('run.completed', ({ lastEventId }) => received.push(lastEventId));
  // It connects again after each end of a stream, and stops at a status other than 200.
  await new Promise<void>((resolve) => {
    source.addEventListener('error', () => {
      if (source.readyState === source.CLOSED) resolve();
    });
  });
  expect(statuses).toEqual([200, 204]);
  expect(received).toHaveLength(1);
});

it('answers 204 without a body at the last event only', async () => {
  const text = await (await fetch(events)).text();
  const ids = Array.from(text.matchAll(/^id: (.+)$/gm), ([, id = '']) => id);
  const follow = (id: string) => fetch(events, { headers: { 'last-event-id': id } });
  const last = await follow(ids.at(-1)!);
  expect([last.status, last.headers.get('content-type'), await last.text()]).toEqual([204, null, '']);
  const before = await follow(ids.at(-2)!);
  expect(before.status).toBe(200);
  expect(await before.text()).toContain('event: run.completed');
});
