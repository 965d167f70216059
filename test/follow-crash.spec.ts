import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStream } from './support/event-stream.js';
import { FakeLlm } from './support/fake-llm.js';
import { gate } from './support/jackdaw.js';
import { buildIfStale, killAll, ServerProcess } from './support/process.js';

let llm: FakeLlm;
let folder: string;

beforeAll(async () => {
  buildIfStale();
  llm = await FakeLlm.start();
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-follow-'));
}, 120_000);
afterEach(() => killAll());
afterAll(async () => {
  await llm.close();
  rmSync(folder, { recursive: true });
});

function start(): Promise<ServerProcess> {
  return ServerProcess.serve({
    DATA_DIR: folder,
    EFFECTS_FILE: join(folder, 'effects'),
    LLM_PROVIDER: 'openai',
    OPENAI_API_KEY: 'test',
    OPENAI_BASE_URL: llm.url,
  });
}

it('a client that was in the midst of a message when the server was killed is told that it begins anew', async () => {
  const open = gate();
  llm.reply({ text: 'one two three', stallAfter: 3 }).reply({ gate: open.opened, text: 'uno dos tres' });
  const first = await start();
  const stream = await EventStream.open(`${first.url}/api/agent/chat/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: { query: 'count' },
  });
  await stream.waitFor('message.delta', 2);
  const place = stream.events.at(-1)!.place!;
  expect(place).toMatch(/^1\.1\d+\.7$/);
  await first.kill();

  const second = await start();
  await llm.waitForRequest(2);
  const follow = (from: string) =>
    EventStream.open(`${second.url}/api/runs/${String(stream.headers['x-run-id'])}/events`, {
      headers: { 'last-event-id': from },
    });
  const back = await follow(place);
  const restarted = await back.waitFor('step.restarted');
  expect(restarted.data).toEqual({ type: 'step.restarted', iteration: 1, text: '' });
  // Who came no further than to hear of the takeover may still hold the old text.
  const numbered = await follow('2');
  await numbered.waitFor('step.restarted');
  open.open();
  const told = (await back.all()).filter(({ event }) => event !== 'step.started');
  expect(told.map(({ event }) => event)).toEqual([
    'run.resumed',
    'step.restarted',
    ...Array.from({ length: 3 }, () => 'message.delta'),
    'message.completed',
    'usage',
    'run.completed',
  ]);
  expect([back.deltas(), numbered.deltas()]).toEqual(['uno dos tres', 'uno dos tres']);
  expect(told.at(-1)?.data).toMatchObject({ result: 'uno dos tres' });
});
