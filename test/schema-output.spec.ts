import { afterAll, beforeAll, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { z } from 'zod';
import { createAgent, type Agent } from '../src/index.js';
import { newFolder } from './support/jackdaw.js';
import { says, ScriptedChatModel } from './support/scripted-chat-model.js';

const visit = z
  .object({ day: z.string(), guests: z.number() })
  .refine(({ guests }) => guests > 0, { message: 'a guest must come', path: ['guests'] })
  .transform(({ day, guests }) => ({ day: new Date(`${day}T00:00:00Z`), guests: BigInt(guests) }));
const FINE = '{"day": "2027-01-31", "guests": 3}';
const NO_GUESTS = '{"day": "2027-01-31", "guests": 0}';

const folder = newFolder();
const env = { DATA_DIR: folder, LLM_PROVIDER: 'offline', API_KEYS: '' };
const model = new ScriptedChatModel([FINE, NO_GUESTS, FINE, FINE, '{"n": 1}'].map((text) => says(text)));
let agent: Agent;
beforeAll(async () => {
  agent = await createAgent({ config: env, chatModel: model, responseFormat: visit });
});
afterAll(async () => {
  await agent.close();
  rmSync(folder, { recursive: true });
});

it('a script receives the value that its schema produces, which JSON need not represent', async () => {
  const { output, content } = await agent.chat('when?');
  expect(output).toEqual({ day: new Date('2027-01-31T00:00:00Z'), guests: 3n });
  expect(content).toBe(FINE);
});

it('a violation that only the schema detects is reported with its position, without another model call', async () => {
  const asked = model.requests.length;
  await expect(agent.chat('when?')).rejects.toMatchObject({
    code: 'OUTPUT_INVALID',
    details: { problem: '"output.guests": a guest must come' },
  });
  expect(model.requests).toHaveLength(asked + 1);
});

it('the run itself publishes the value as JSON', async () => {
  const events: Record<string, unknown>[] = [];
  await agent.stream('when?', (event) => void events.push({ ...event }));
  expect(events.at(-1)).toMatchObject({ type: 'run.completed', output: { day: '2027-01-31', guests: 3 } });
});

it('the schema of a request has priority, may be wrapped, and may be asynchronous', async () => {
  const slow = z
    .object({ day: z.string(), guests: z.number() })
    .transform(async ({ guests }) => Promise.resolve(-guests));
  expect((await agent.chat('when?', { responseFormat: { schema: slow } })).output).toBe(-3);
});

it('a schema that throws is reported with its error', async () => {
  const broken = z.object({ n: z.number() }).transform(() => {
    throw new Error('no such luck');
  });
  await expect(agent.chat('n?', { responseFormat: broken })).rejects.toMatchObject({
    code: 'OUTPUT_INVALID',
    message: expect.stringContaining('no such luck'),
  });
});
