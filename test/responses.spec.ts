import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { LlmNode, WorkflowBuilder } from '../src/index.js';
import type { EnvRecord } from '../src/config/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { TestTools } from './support/test.tool.js';

const MODEL = 'gpt-5.6-luna';
const RESPONSES = '/v1/responses';
const CHAT = '/v1/chat/completions';

let llm: FakeLlm;
let jackdaw: Jackdaw | undefined;
beforeAll(async () => void (llm = await FakeLlm.start({ strict: 'openai' })));
afterEach(async () => {
  await jackdaw?.stop();
  jackdaw = undefined;
  llm.reset();
});
afterAll(() => llm.close());

async function start(env: EnvRecord = {}): Promise<Jackdaw> {
  const workflows = [
    new WorkflowBuilder('whole').add(new LlmNode('ask', 'Say {{input.word}}')).build(),
    new WorkflowBuilder('streamed').add(new LlmNode('ask', 'Say {{input.word}}').streaming()).build(),
  ];
  const options = { workflows };
  jackdaw = await startJackdaw({ llm, env: { LLM_MODEL: MODEL, ...env }, tools: [new TestTools()], options });
  return jackdaw;
}

const paths = () => llm.envelopes.map(({ path }) => path);
const typesOf = (at: number) => (llm.envelopes[at]!.body['input'] as { type: string }[]).map(({ type }) => type);

it('a run reasons beside its tools, and summaries of the reasoning are thought events', async () => {
  llm.reply({ reasoning: 'I double.', calls: [{ name: 'double', arguments: { n: 1 } }] }, { text: 'It is 2.' });
  const app = await start();
  const stream = await app.stream({ query: 'double 1', sessionId: 's' });
  const events = await stream.all();
  expect(events.filter(({ event }) => event === 'thought').map(({ data }) => data['text'])).toEqual(['I double.']);
  expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'It is 2.' } });
  expect([paths(), llm.broken]).toEqual([[RESPONSES, RESPONSES], []]);
  expect(llm.envelopes.map(({ body }) => body['reasoning'])).toEqual([{ summary: 'auto' }, { summary: 'auto' }]);
});

it('a session continues with another model and without its reasoning, and with the first one again', async () => {
  llm.always({ reasoning: 'hm', text: 'yes' });
  const app = await start();
  const ask = (model: string) => app.chat({ query: 'and?', sessionId: 's', model: `openai:${model}` });
  for (const model of [MODEL, 'gpt-5.7', MODEL]) expect((await ask(model)).body).toMatchObject({ result: 'yes' });
  expect(llm.broken).toEqual([]);
  const turn = ['message', 'reasoning', 'message'];
  expect(typesOf(1).filter((type) => type === 'reasoning')).toEqual([]);
  expect(typesOf(2).slice(-6)).toEqual([...turn, 'message', 'message', 'message']);
});

it('an exported session continues elsewhere with its reasoning', async () => {
  llm.always({ reasoning: 'hm', text: 'yes' });
  const app = await start();
  await app.chat({ query: 'one', sessionId: 'a' });
  const { body: session } = await app.get('/api/sessions/a/export');
  await app.send('/api/sessions/a', { method: 'DELETE' });
  expect((await app.post('/api/sessions/import', { session })).status).toBe(201);
  await app.chat({ query: 'two', sessionId: 'a' });
  expect([typesOf(1).includes('reasoning'), llm.broken]).toEqual([true, []]);
});

it.each(['whole', 'streamed'])('an llm node uses Chat Completions: %s', async (name) => {
  llm.always({ text: 'hello' });
  const app = await start();
  const { body } = await app.post(`/api/workflows/${name}/runs`, { input: { word: 'hello' } });
  expect((await app.events(String(body['run_id']))).at(-1)).toMatchObject({ event: 'run.completed' });
  expect(paths()).toEqual([CHAT]);
});

it('an address without the Responses API gets Chat Completions, which health lists', async () => {
  llm.reply({ status: 404, body: { error: { message: 'no route' } } }).always({ text: 'ok' });
  const app = await start();
  for (const query of ['one', 'two']) expect((await app.chat({ query })).body).toMatchObject({ result: 'ok' });
  expect(paths()).toEqual([RESPONSES, CHAT, CHAT]);
  expect((await app.get('/api/agent/health')).body['info']).toMatchObject({
    model: { adaptations: { openai: ['Chat Completions are used, as there is no Responses API'] } },
  });
});

it('LLM_OPENAI_API=chat leaves out the Responses API', async () => {
  llm.always({ text: 'ok' });
  const app = await start({ LLM_OPENAI_API: 'chat' });
  await app.chat({ query: 'one' });
  expect(paths()).toEqual([CHAT]);
});
