import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import OpenAI from 'openai';
import { FakeLlm } from './support/fake-llm.js';
import { gate, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { WaitingTools } from './support/waiting.tool.js';

type Messages = OpenAI.Chat.ChatCompletionMessageParam[];

const WEATHER: OpenAI.Chat.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const QUESTION: Messages = [{ role: 'user', content: 'How is the weather in Oslo?' }];
const ASKS = { text: 'I look.', calls: [{ id: 'c1', name: 'get_weather', arguments: { city: 'Oslo' } }] };

const tools = new WaitingTools();
let llm: FakeLlm;
let jackdaw: Jackdaw;
let client: OpenAI;

beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({
    llm,
    tools: [tools],
    options: {
      agents: [
        { name: 'default', model: { provider: 'openai' } },
        { name: 'poet', instructions: 'Write poems.', model: { provider: 'openai' } },
      ],
    },
  });
  client = new OpenAI({ baseURL: `${jackdaw.url}/v1`, apiKey: 'none' });
});
beforeEach(() => tools.done.splice(0));
afterEach(() => llm.reset());
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

async function chat(messages: Messages, more: Partial<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming> = {}) {
  return client.chat.completions.create({ model: 'default', messages, ...more });
}

/** The messages of the last request to the model. */
function lastMessages() {
  return llm.requests.at(-1)!.messages.map(({ role, content }) => [role, content]);
}

describe('chat completions for the openai package', () => {
  it('lists agents as models', async () => {
    const names = [];
    for await (const { id } of client.models.list()) names.push(id);
    expect(names).toEqual(['default', 'poet']);
    expect(await client.models.retrieve('poet')).toMatchObject({ id: 'poet', object: 'model', owned_by: 'jackdaw' });
    await expect(client.models.retrieve('gpt-4o')).rejects.toMatchObject({ status: 404, code: 'AGENT_NOT_FOUND' });
  });

  it('answers a conversation that the client keeps, without a session', async () => {
    llm.reply({ text: 'It is 42.' });
    const answer = await chat([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi.' },
      { role: 'user', content: [{ type: 'text', text: 'What is 6 * 7?' }] },
    ]);
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'It is 42.' },
    });
    expect(answer.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 });
    const [[, instructions], ...rest] = lastMessages() as [[string, string], ...unknown[]];
    expect(instructions).toMatch(/Be brief\.$/);
    expect(rest).toEqual([
      ['user', 'Hello'],
      ['assistant', 'Hi.'],
      ['user', 'What is 6 * 7?'],
    ]);
    const run = await jackdaw.get(`/api/runs/${answer.id.replace('chatcmpl-', '')}`);
    expect(run.body).toMatchObject({ status: 'completed', session_id: null });
  });

  it('streams text and usage', async () => {
    llm.reply({ text: 'one two three' });
    const stream = await client.chat.completions.create({
      model: 'poet',
      messages: QUESTION,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('one two three');
    expect(
      chunks.filter(({ choices }) => choices[0]?.finish_reason).map(({ choices }) => choices[0]!.finish_reason),
    ).toEqual(['stop']);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 15 } });
    expect(lastMessages()[0]).toEqual(['system', expect.stringMatching(/^Write poems\./)]);
  });

  it('hides the tools of the server, and returns their outcome as text', async () => {
    llm.reply({ text: 'I look.', calls: [{ name: 'look', arguments: { text: 'x' } }] }, { text: 'I saw x.' });
    const answer = await chat(QUESTION);
    expect(answer.choices[0]!.message).toMatchObject({ content: 'I look.\n\nI saw x.' });
    expect(answer.choices[0]!.message.tool_calls).toBeUndefined();
    expect(tools.done).toEqual(['look x']);
  });

  it('returns calls of the client’s tools, and resumes the run with their results', async () => {
    llm.reply(ASKS, { text: 'It rains.' });
    const first = await chat(QUESTION, { tools: [WEATHER] });
    const [choice] = first.choices;
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'I look.' } });
    const [call] = choice!.message.tool_calls!;
    expect(call).toMatchObject({ type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } });
    const messages: Messages = [
      ...QUESTION,
      choice!.message,
      { role: 'tool', tool_call_id: call!.id, content: 'rain' },
    ];
    const second = await chat(messages, { tools: [WEATHER] });
    expect(second.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'It rains.' } });
    expect(second.id).toBe(first.id);
    expect(llm.requests).toHaveLength(2);
    const repeated = await chat(messages, { tools: [WEATHER] });
    expect([repeated.id, repeated.choices[0]!.message.content]).toEqual([first.id, 'It rains.']);
    expect(llm.requests).toHaveLength(2);
  });

  it('starts a run of its own when the conversation before the results differs', async () => {
    llm.reply(ASKS, { text: 'It rains in Bergen.' });
    const first = await chat(QUESTION, { tools: [WEATHER] });
    const { message } = first.choices[0]!;
    const second = await chat(
      [
        { role: 'user', content: 'How is the weather in Bergen?' },
        message,
        { role: 'tool', tool_call_id: message.tool_calls![0]!.id, content: 'rain' },
      ],
      { tools: [WEATHER] },
    );
    expect(second.id).not.toBe(first.id);
    expect(second.choices[0]!.message.content).toBe('It rains in Bergen.');
    expect(lastMessages().slice(1)).toEqual([
      ['user', 'How is the weather in Bergen?'],
      ['assistant', 'I look.'],
      ['tool', 'rain'],
    ]);
    const { body } = await jackdaw.get(`/api/runs/${second.id.replace('chatcmpl-', '')}/journal`);
    expect(JSON.stringify(body)).toContain('untrusted');
  });

  it('answers several calls at once, beside a call of the server', async () => {
    const calls = ['Oslo', 'Bergen'].map((city) => ({ id: city, name: 'get_weather', arguments: { city } }));
    llm.reply({ calls: [...calls, { id: 'look', name: 'look', arguments: { text: 'x' } }] }, { text: 'done' });
    const first = await chat(QUESTION, { tools: [WEATHER] });
    const { message } = first.choices[0]!;
    expect(message.tool_calls).toHaveLength(2);
    const results = message.tool_calls!.map(({ id }) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: `of ${id}`,
    }));
    const second = await chat([...QUESTION, message, ...results], { tools: [WEATHER] });
    expect(second.choices[0]!.message.content).toBe('done');
    expect(tools.done).toEqual(['look x']);
    expect(llm.requests.at(-1)!.messages.filter(({ role }) => role === 'tool')).toHaveLength(3);
  });

  it('continues a session that the request names', async () => {
    llm.reply({ text: 'Noted.' }, { text: 'Ann.' });
    const named = { metadata: { session_id: 'talk-1' } };
    await chat([{ role: 'user', content: 'I am Ann.' }], named);
    await chat([{ role: 'user', content: 'Who am I?' }], named);
    expect(lastMessages().slice(1)).toEqual([
      ['user', 'I am Ann.'],
      ['assistant', 'Noted.'],
      ['user', 'Who am I?'],
    ]);
    expect((await jackdaw.get('/api/sessions/talk-1')).body).toMatchObject({ turn_count: 2 });
  });

  it('names the run that waits for a person', async () => {
    llm.reply({ calls: [{ name: 'pay', arguments: { to: 'bob', amount: 5 } }] }, { text: 'paid' });
    const answer = await chat(QUESTION);
    const runId = answer.id.replace('chatcmpl-', '');
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: expect.stringContaining(runId) },
    });
    await jackdaw.post(`/api/runs/${runId}/approve`, {});
    await jackdaw.events(runId);
    expect(tools.done).toEqual(['pay bob 5']);
  });

  it('answers in the format of the request', async () => {
    llm.reply({ text: '{"city":"Oslo"}' });
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    };
    const answer = await chat(QUESTION, {
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema, strict: true } },
    });
    expect(JSON.parse(answer.choices[0]!.message.content!)).toEqual({ city: 'Oslo' });
  });

  it('cancels the run when the client aborts', async () => {
    const held = gate();
    llm.reply({ gate: held.opened, text: 'late' });
    const stream = client.chat.completions.stream({
      model: 'default',
      messages: [{ role: 'user', content: 'abort me' }],
    });
    const aborted = stream.done().catch((error: Error) => error.message);
    await llm.waitForRequest(1);
    stream.abort();
    expect(await aborted).toContain('aborted');
    const { body } = await jackdaw.get('/api/runs?limit=1');
    const [run] = body['runs'] as unknown as { run_id: string; query_preview: string }[];
    expect(run!.query_preview).toBe('abort me');
    await jackdaw.events(run!.run_id);
    expect((await jackdaw.get(`/api/runs/${run!.run_id}`)).body).toMatchObject({ status: 'cancelled' });
    held.open();
  });

  it.each([
    ['n', { n: 2 }, /n: must be 1/],
    ['logprobs', { logprobs: true }, /logprobs: must be false/],
    ['messages', { messages: [] }, /messages/],
    ['messages.1', { messages: [...QUESTION, { role: 'tool', tool_call_id: 'x', content: 'y' }] }, /call "x"/],
  ])('refuses %s', async (param, body, message) => {
    const sent = chat(QUESTION, body as object);
    await expect(sent).rejects.toMatchObject({
      status: 400,
      code: 'VALIDATION_FAILED',
      param,
      message: expect.stringMatching(message),
    });
    expect(llm.requests).toHaveLength(0);
  });

  it('ignores unknown parameters, and tools of other types', async () => {
    llm.reply({ text: 'fine' });
    const more = { tools: [{ type: 'web_search' }], store: false, prompt_cache_key: 'k', verbosity: 'low' };
    const answer = await chat(QUESTION, more as object);
    expect(answer.choices[0]!.message.content).toBe('fine');
  });
});
