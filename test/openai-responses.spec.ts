import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import OpenAI from 'openai';
import { FakeLlm } from './support/fake-llm.js';
import { gate, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { WaitingTools } from './support/waiting.tool.js';

type Params = OpenAI.Responses.ResponseCreateParamsNonStreaming;
type Answer = OpenAI.Responses.Response;

const WEATHER: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'get_weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: false,
};
const ASKS = { text: 'I look.', calls: [{ id: 'c1', name: 'get_weather', arguments: { city: 'Oslo' } }] };
/** The members that `ResponseResource` of the Open Responses specification requires. */
const MEMBERS =
  'id object created_at completed_at status incomplete_details model previous_response_id instructions output error tools tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs temperature reasoning usage max_output_tokens max_tool_calls store background service_tier metadata safety_identifier prompt_cache_key user'.split(
    ' ',
  );

const tools = new WaitingTools();
let llm: FakeLlm;
let jackdaw: Jackdaw;
let client: OpenAI;

beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({ llm, tools: [tools], env: { LLM_MAX_ATTEMPTS: '1' } });
  client = new OpenAI({ baseURL: `${jackdaw.url}/v1`, apiKey: 'none' });
});
beforeEach(() => tools.done.splice(0));
afterEach(() => llm.reset());
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

function ask(input: Params['input'], more: Partial<Params> = {}): Promise<Answer> {
  return client.responses.create({ model: 'default', input, ...more });
}

function callOf({ output }: Answer) {
  return output.find((item) => item.type === 'function_call')!;
}

function lastMessages() {
  return llm.requests.at(-1)!.messages.map(({ role, content }) => [role, content]);
}

/** All events of a stream, which the SDK's own helper accepts in their order. */
async function eventsOf(body: object, of = client) {
  const stream = of.responses.stream({ model: 'default', ...body });
  const events: OpenAI.Responses.ResponseStreamEvent[] = [];
  stream.on('event', (event) => void events.push(event));
  return { events, response: await stream.finalResponse() };
}

describe('responses for the openai package', () => {
  it('answers with all members of a response', async () => {
    llm.reply({ text: 'It is 42.' });
    const answer = await ask('What is 6 * 7?', { instructions: 'Be brief.', metadata: { a: 'b' } });
    expect(answer.output_text).toBe('It is 42.');
    expect(answer).toMatchObject({
      status: 'completed',
      model: 'default',
      metadata: { a: 'b' },
      usage: { total_tokens: 15 },
    });
    expect(MEMBERS.filter((member) => !(member in answer))).toEqual([]);
    expect(lastMessages()[0]).toEqual(['system', expect.stringMatching(/Be brief\.$/)]);
    expect(await client.responses.retrieve(answer.id)).toEqual(answer);
    const { data } = await client.responses.inputItems.list(answer.id);
    expect(data).toMatchObject([{ type: 'message', role: 'user', content: [{ text: 'What is 6 * 7?' }] }]);
  });

  it('continues an earlier response, also in two directions', async () => {
    llm.reply({ text: 'Noted.' }, { text: 'Ann.' }, { text: 'Ann again.' });
    const first = await ask('I am Ann.');
    const second = await ask('Who am I?', { previous_response_id: first.id });
    await ask('Who?', { previous_response_id: second.id });
    expect(lastMessages().slice(1)).toEqual([
      ['user', 'I am Ann.'],
      ['assistant', 'Noted.'],
      ['user', 'Who am I?'],
      ['assistant', 'Ann.'],
      ['user', 'Who?'],
    ]);
    llm.reply({ text: 'other' });
    await ask('And?', { previous_response_id: first.id });
    expect(lastMessages().slice(1)).toEqual([
      ['user', 'I am Ann.'],
      ['assistant', 'Noted.'],
      ['user', 'And?'],
    ]);
    expect(second.previous_response_id).toBe(first.id);
    await expect(ask('x', { previous_response_id: 'nothing' })).rejects.toMatchObject({
      status: 404,
      code: 'RUN_NOT_FOUND',
    });
  });

  it('streams text, tools of the server and usage in the order that the SDK checks', async () => {
    llm.reply({ text: 'I look.', calls: [{ name: 'look', arguments: { text: 'x' } }] }, { text: 'I saw x.' });
    const { events, response } = await eventsOf({ input: 'look' });
    expect(response.output).toMatchObject([
      { type: 'message', content: [{ text: 'I look.' }] },
      { type: 'mcp_call', server_label: 'jackdaw', name: 'look', output: 'seen x', status: 'completed' },
      { type: 'message', content: [{ text: 'I saw x.' }] },
    ]);
    const numbers = events.map(({ sequence_number: number }) => number);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(events.map(({ type }) => type)).toContain('response.mcp_call.completed');
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { usage: { total_tokens: 30 } } });
  });

  it.each([
    ['previous_response_id', true],
    ['the whole conversation, without storage', false],
  ])('resumes the run with the results of the client’s tools, by %s', async (_title, isStored) => {
    llm.reply(ASKS, { text: 'It rains.' });
    const first = await ask('How is the weather?', { tools: [WEATHER], store: isStored });
    expect(first.output).toMatchObject([
      { type: 'message', content: [{ text: 'I look.' }] },
      { type: 'function_call', name: 'get_weather', arguments: '{"city":"Oslo"}', status: 'completed' },
    ]);
    const result = { type: 'function_call_output' as const, call_id: callOf(first).call_id, output: 'rain' };
    const user = { role: 'user' as const, content: 'How is the weather?' };
    const second = isStored
      ? await ask([result], { previous_response_id: first.id, tools: [WEATHER] })
      : await ask([user, ...(first.output as OpenAI.Responses.ResponseInputItem[]), result], {
          tools: [WEATHER],
          store: false,
        });
    expect(second.output_text).toBe('It rains.');
    expect(second.id).not.toBe(first.id);
    expect(llm.requests).toHaveLength(2);
    const stored = client.responses.retrieve(second.id).then(
      ({ output_text: text }) => text,
      ({ status }: { status: number }) => status,
    );
    expect(await stored).toBe(isStored ? 'It rains.' : 404);
  });

  it.each([
    [true, ['pay bob 5'], 'paid 5 to bob'],
    [false, [], 'too much'],
  ])('asks for approval, and reads the decision: %s', async (approve, done, seen) => {
    llm.reply({ calls: [{ name: 'pay', arguments: { to: 'bob', amount: 5 } }] }, { text: 'The end.' });
    const first = await ask('pay bob');
    const [request] = first.output;
    expect(request).toMatchObject({ type: 'mcp_approval_request', name: 'pay', server_label: 'jackdaw' });
    const decision = {
      type: 'mcp_approval_response' as const,
      approval_request_id: request!.id!,
      approve,
      reason: 'too much',
    };
    const second = await ask([decision], { previous_response_id: first.id });
    expect(second.output_text).toBe('The end.');
    expect(tools.done).toEqual(done);
    expect(JSON.stringify(lastMessages().at(-1))).toContain(seen);
    const again = await ask([decision], { previous_response_id: first.id });
    expect([again.id, again.output_text]).toEqual([second.id, 'The end.']);
  });

  it('refers to items of earlier responses', async () => {
    llm.reply({ text: 'Noted.' }, { text: 'Ann.' });
    const first = await ask('I am Ann.');
    await ask([
      { role: 'user', content: 'I am Ann.' },
      { type: 'item_reference', id: first.output[0]!.id! },
      { role: 'user', content: 'Who am I?' },
    ]);
    expect(lastMessages().slice(1)).toEqual([
      ['user', 'I am Ann.'],
      ['assistant', 'Noted.'],
      ['user', 'Who am I?'],
    ]);
  });

  it('runs in the background, is cancelled, and is deleted', async () => {
    const held = gate();
    llm.reply({ gate: held.opened, text: 'late' });
    const started = await ask('work', { background: true });
    expect(started.status).toBe('queued');
    await llm.waitForRequest(1);
    expect((await client.responses.retrieve(started.id)).status).toBe('in_progress');
    await expect(client.responses.delete(started.id)).rejects.toMatchObject({ status: 400, code: 'REQUEST_REFUSED' });
    expect(await client.responses.cancel(started.id)).toMatchObject({ status: 'cancelled', background: true });
    held.open();
    await client.responses.delete(started.id);
    await expect(client.responses.retrieve(started.id)).rejects.toMatchObject({ status: 404 });
  });

  it('continues a conversation, which is a session', async () => {
    llm.reply({ text: 'Noted.' }, { text: 'Ann.' });
    await ask('I am Ann.', { conversation: 'talk-2' });
    const second = await ask('Who am I?', { conversation: { id: 'talk-2' } });
    expect(second.conversation).toEqual({ id: 'talk-2' });
    expect(lastMessages().slice(1)).toHaveLength(3);
    expect((await jackdaw.get('/api/sessions/talk-2')).body).toMatchObject({ turn_count: 2 });
  });

  it('has conversations, which are sessions', async () => {
    llm.reply({ text: 'hi' });
    const { conversations } = client;
    const { id } = await conversations.create({ metadata: { topic: 'a' } });
    await ask('hello', { conversation: id });
    const { data } = await conversations.items.list(id, { order: 'asc' });
    expect(data).toMatchObject([
      { type: 'message', role: 'user', content: [{ text: 'hello' }] },
      { type: 'message', role: 'assistant', content: [{ text: 'hi' }] },
    ]);
    const page = await conversations.items.list(id, { limit: 1 });
    expect([page.data.map((item) => item.id), page.hasNextPage()]).toEqual([[data[1]!.id], true]);
    expect(await conversations.items.retrieve(data[0]!.id!, { conversation_id: id })).toEqual(data[0]);
    const added = conversations.items.create(id, { items: [{ role: 'user', content: 'x' }] });
    await expect(added).rejects.toMatchObject({ status: 501, code: 'NOT_SUPPORTED' });
    expect(await conversations.update(id, { metadata: { topic: 'b' } })).toMatchObject({
      id,
      metadata: { topic: 'b' },
    });
    expect(await conversations.delete(id)).toMatchObject({ deleted: true });
    await expect(conversations.retrieve(id)).rejects.toMatchObject({ status: 404, code: 'SESSION_NOT_FOUND' });
  });

  it('accepts what Codex sends', async () => {
    llm.reply({ text: 'hi', reasoning: 'I think.' });
    const { response } = await eventsOf({
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Rules.' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'say hi' }] },
      ],
      tools: [
        WEATHER,
        { type: 'namespace', name: 'n', tools: [{ ...WEATHER, name: 'inner' }] },
        { type: 'web_search' },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      reasoning: { effort: 'medium', summary: 'auto' },
      store: false,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'k',
      client_metadata: { a: 'b' },
      text: { verbosity: 'low' },
    });
    expect(response.output_text).toBe('hi');
    expect(response.output.map(({ type }) => type)).toEqual(['message', 'reasoning']);
    expect(llm.requests[0]!.tools!.map(({ function: { name } }) => name)).toEqual(
      expect.arrayContaining(['get_weather', 'inner', 'look']),
    );
  });

  it('reports failures with their status, and in a stream that has started as an event', async () => {
    llm.always({ status: 503, body: { error: { message: 'busy' } } });
    await expect(ask('x')).rejects.toMatchObject({ status: 502, code: 'MODEL_UNAVAILABLE' });
    expect(llm.requests).toHaveLength(3);
    llm.reset();
    llm.reply({ text: 'I look.', calls: [{ name: 'look', arguments: { text: 'x' } }] });
    llm.always({ status: 503, body: { error: { message: 'busy' } } });
    const { events } = await eventsOf({ input: 'look' });
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'MODEL_UNAVAILABLE' } },
    });
    expect(llm.requests).toHaveLength(2);
  });

  it.each(['input_tokens', 'compact'])('answers 501 for %s', async (path) => {
    const { status, body } = await jackdaw.post(`/v1/responses/${path}`, { model: 'default', input: 'x' });
    expect([status, body]).toMatchObject([501, { error: { code: 'NOT_SUPPORTED' } }]);
  });

  it.each([
    [
      { input: [{ type: 'mcp_approval_response', approval_request_id: 'x', approve: true }] },
      'input.0.approval_request_id',
    ],
    [{ input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] }, 'input.0.content.0.type'],
    [{ input: [{ type: 'item_reference', id: 'msg_x_1' }] }, 'input.0.id'],
    [{ input: [{ type: 'function_call_output', call_id: 'x', output: 'y' }] }, 'input.0'],
  ])('refuses %j', async (body, param) => {
    await expect(ask('x', body as object)).rejects.toMatchObject({ status: 400, param });
  });
});
