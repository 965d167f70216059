import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeRequest } from './support/fake-llm.types.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

let llm: FakeLlm;
let jackdaw: Jackdaw;
let sessions = 0;
let sessionId = '';
beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({
    llm,
    env: { AGENT_MEMORY_POLICY: 'summary', AGENT_MEMORY_MAX_MESSAGES: '4' },
  });
});
beforeEach(() => {
  llm.reset();
  llm.always(({ messages }) => ({ text: `answer ${messages.length}` }));
  sessionId = `s-${sessions++}`;
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

const chat = (query: string) => jackdaw.chat({ query, sessionId });
const isSummary = ({ messages }: FakeRequest) => String(messages[0]?.content).startsWith('You keep the memory');
const shown = () => llm.lastRequest.messages.slice(1).map(({ content }) => content);
const fill = async () => {
  for (const query of ['one', 'two', 'three']) await chat(query);
  llm.reset();
};

describe('an agent with the memory policy "summary"', () => {
  it('requests one summary when turns are evicted, and continues with it', async () => {
    await fill();
    llm.always((request) => ({ text: isSummary(request) ? 'they counted' : 'fine' }));
    const { body } = await chat('four');
    expect(llm.requests.map(isSummary)).toEqual([true, false]);
    expect(shown()).toEqual(['Summary of our conversation so far:\nthey counted', 'three', 'answer 6', 'four']);
    expect(body['memory_state']).toMatchObject({ message_count: 6, dropped: 4, policy: 'summary' });
    const { body: journal } = await jackdaw.get(`/api/runs/${String(body['run_id'])}/journal`);
    const published = (journal['events'] as unknown as { type: string; data: Record<string, unknown> }[]).filter(
      ({ type }) => type === 'usage',
    );
    expect(published.map(({ data }) => [data['iteration'], data['total_tokens']])).toEqual([
      [0, 15],
      [1, 15],
    ]);
    // The usage of the summary is part of the usage of the run.
    expect(body['usage']).toEqual({ prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 });
    llm.reset();
    llm.always({ text: 'fine' });
    await chat('five');
    expect(llm.requests.map(isSummary)).toEqual([true, false]);
  });

  it('requests no summary before turns are evicted, though earlier ones are gone', async () => {
    await fill();
    llm.always(({ messages }) => ({ text: isSummary({ messages } as FakeRequest) ? 'too early' : 'fine' }));
    await jackdaw.send(`/api/sessions/${sessionId}/messages`, { method: 'DELETE' });
    for (const query of ['four', 'five', 'six']) await chat(query);
    expect(llm.requests.map(isSummary)).toEqual([false, false, false]);
    await chat('seven');
    expect(llm.requests.map(isSummary).slice(3)).toEqual([true, false]);
  });

  it('leaves the reasoning of a model out of the summary', async () => {
    await fill();
    const text = '<think>They counted.</think>\n\nthey counted';
    llm.always((request) => ({ text: isSummary(request) ? text : 'fine' }));
    await chat('four');
    expect(shown()[0]).toBe('Summary of our conversation so far:\nthey counted');
  });

  it('answers without a summary when the summary fails', async () => {
    await fill();
    llm.reply({ status: 500 }).always({ text: 'fine' });
    const { status, body } = await chat('four');
    expect([status, body['result']]).toEqual([200, 'fine']);
    expect(shown()).toEqual(['two', 'answer 4', 'three', 'answer 6', 'four']);
    expect(await jackdaw.messages(sessionId)).toHaveLength(8);
  });

  it('is cancelled during a summary, and stores the question in its turn', async () => {
    await fill();
    llm.reply({ hang: true }).always({ text: 'fine' });
    const stream = await jackdaw.stream({ query: 'four', sessionId });
    await llm.waitForRequest();
    await jackdaw.post(`/api/runs/${stream.runId}/cancel`);
    const events = await stream.all();
    expect(events.at(-1)).toMatchObject({ event: 'run.cancelled' });
    expect(llm.requests).toHaveLength(1);
    expect((await jackdaw.messages(sessionId)).at(-1)).toMatchObject({ role: 'user', content: 'four' });
    expect((await chat('five')).status).toBe(200);
  });
});
