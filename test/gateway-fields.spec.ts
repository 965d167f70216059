import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { EnvRecord } from '../src/config/index.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { TestTools } from './support/test.tool.js';

let llm: FakeLlm;
let jackdaw: Jackdaw | undefined;
beforeAll(async () => void (llm = await FakeLlm.start()));
afterEach(async () => {
  await jackdaw?.stop();
  jackdaw = undefined;
  llm.reset();
});
afterAll(() => llm.close());

async function start(env: EnvRecord = {}): Promise<Jackdaw> {
  const given = { ...llm.envOf('openai-compatible'), LLM_MODEL: 'house-model', ...env };
  jackdaw = await startJackdaw({ env: given, tools: [new TestTools()] });
  return jackdaw;
}

describe('opaque fields of a gateway', () => {
  const details = [
    { type: 'reasoning.text', text: 'I add.', signature: 's-1', format: 'anthropic-claude-v1', index: 0 },
    { type: 'reasoning.encrypted', data: 'AAAA', id: 'r-1', index: 1 },
  ];
  const fields = { thought_signature: 'sig-1' };
  const message = {
    role: 'assistant',
    content: null,
    reasoning_details: details,
    provider_specific_fields: { citations: [1] },
    thinking_blocks: [{ type: 'thinking', thinking: 'I add.', signature: 's-1' }],
    tool_calls: [
      {
        id: 'call_1',
        type: 'function',
        provider_specific_fields: fields,
        function: { name: 'double', arguments: '{"n":1}' },
      },
      {
        id: 'call_2',
        type: 'function',
        function: { name: 'double', arguments: '{"n":1}', thought_signature: 'sig-2' },
      },
    ],
  };
  const body = { model: 'house-model', choices: [{ message, finish_reason: 'tool_calls' }] };
  const [first, second] = message.tool_calls;
  const delta = (part: object) => ({ choices: [{ delta: part }] });
  const events = [
    delta({ reasoning_details: [{ type: 'reasoning.text', text: 'I ', format: 'anthropic-claude-v1', index: 0 }] }),
    delta({ reasoning_details: [{ type: 'reasoning.text', text: 'add.', index: 0 }] }),
    delta({ reasoning_details: [{ type: 'reasoning.text', signature: 's-1', index: 0 }, details[1]] }),
    delta({ provider_specific_fields: { citations: [1] }, thinking_blocks: message.thinking_blocks }),
    delta({ tool_calls: [{ index: 0, ...first }] }),
    delta({ tool_calls: [{ index: 1, ...second }] }),
    { choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
    '[DONE]',
  ];
  const echoed = ({ messages }: FakeRequest) => messages.find(({ role }) => role === 'assistant');
  const wanted = {
    reasoning_details: details,
    provider_specific_fields: { citations: [1] },
    thinking_blocks: message.thinking_blocks,
    tool_calls: [
      { id: 'call_1', provider_specific_fields: fields },
      { id: 'call_2', function: { name: 'double', thought_signature: 'sig-2' } },
    ],
  };

  it.each<[string, FakeReply]>([
    ['a reply', { status: 200, body }],
    ['a stream', { events }],
  ])('of %s return with the results and in later turns, to the same model only', async (kind, reply) => {
    llm.reply(reply, { text: 'both 3' }, { text: 'again' }, { text: 'other' });
    const app = await start();
    const ask = async (query: string, more = {}) => {
      const given = { query, sessionId: 's', ...more };
      if (kind === 'a reply') return void (await app.chat(given));
      await (await app.stream(given)).all();
    };
    await ask('add twice');
    await ask('again');
    await ask('other', { model: 'another-model' });
    const [, results, again, other] = llm.requests;
    expect(echoed(results!)).toMatchObject(wanted);
    expect(echoed(again!)).toMatchObject(wanted);
    expect(JSON.stringify(echoed(other!))).not.toMatch(/reasoning_details|specific|thinking|signature/);
  });

  it('of an answer return in the next turn', async () => {
    const answer = { role: 'assistant', content: 'fine', reasoning_details: details };
    llm.reply({ status: 200, body: { choices: [{ message: answer, finish_reason: 'stop' }] } }, { text: 'again' });
    const app = await start();
    await app.chat({ query: 'x', sessionId: 's' });
    await app.chat({ query: 'y', sessionId: 's' });
    expect(echoed(llm.lastRequest)).toMatchObject({ content: 'fine', reasoning_details: details });
  });
});

describe('a refused field of messages', () => {
  it('is omitted from later requests', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'double', arguments: '{"n":1}' } };
    const message = { role: 'assistant', content: null, reasoning_details: [{ type: 'x' }], tool_calls: [call] };
    const said = "('messages.2' : property 'messages.2.reasoning_details' is unsupported)";
    llm.reply({ status: 200, body: { choices: [{ message, finish_reason: 'tool_calls' }] } });
    llm.always((request) =>
      JSON.stringify(request.messages).includes('reasoning_details')
        ? { status: 400, body: { error: { message: said } } }
        : { text: '2' },
    );
    const app = await start();
    const { body } = await app.chat({ query: 'x' });
    expect([body['result'], llm.requests.length]).toEqual(['2', 3]);
    expect(llm.lastRequest.messages).toContainEqual({ role: 'assistant', content: null, tool_calls: [call] });
  });
});

describe('a tool message', () => {
  it.each([
    ['gemini-2.5-flash', 'double'],
    ['google/gemma-3-27b-it', 'double'],
    ['house-model', undefined],
  ])('has the name of its tool where the model requires it: %s', async (model, name) => {
    llm.reply({ calls: [{ name: 'double', arguments: { n: 1 } }] }, { text: '2' });
    const app = await start({ LLM_MODEL: model });
    await app.chat({ query: 'x' });
    expect(llm.lastRequest.messages.find(({ role }) => role === 'tool')?.name).toBe(name);
  });
});

describe('a required field', () => {
  it.each([
    ['max_tokens: Field required', 'house-model', 4096],
    ["Missing required parameter: 'max_tokens'.", 'house-model', 4096],
    ['max_tokens: Field required', 'anthropic/claude-haiku-4-5', 32_000],
    ["[{'type': 'missing', 'loc': ('body', 'max_tokens'), 'msg': 'Field required'}]", 'house-model', 4096],
    ['"max_tokens" is required', 'house-model', 4096],
  ])('that a 400 names is added, and remembered: %s', async (said, model, limit) => {
    llm.always((request) =>
      request['max_tokens'] === undefined ? { status: 400, body: { error: { message: said } } } : { text: 'fine' },
    );
    const app = await start({ LLM_MODEL: model });
    for (let n = 0; n < 2; n++) expect((await app.chat({ query: 'x' })).body['result']).toBe('fine');
    expect(llm.requests.map((request) => request['max_tokens'])).toEqual([undefined, limit, limit]);
    const { body } = await app.get('/api/agent/health');
    expect(JSON.stringify(body)).toContain(`max_tokens is added (${limit})`);
  });
});
