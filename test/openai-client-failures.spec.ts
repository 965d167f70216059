import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import OpenAI from 'openai';
import { rmSync } from 'node:fs';
import { RunExpiryService } from '../src/run/decision/run-expiry.service.js';
import { WorkflowBuilder, LlmNode } from '../src/index.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { ProcessWorld } from './support/process-world.js';
import { WaitingTools } from './support/waiting.tool.js';

type Messages = OpenAI.Chat.ChatCompletionMessageParam[];

const ANN = keyHolder('ann', 'a', 'user');
const BOB = keyHolder('bob', 'a', 'user');
const VIC = keyHolder('vic', 'a', 'viewer');
const TOOLS: OpenAI.Chat.ChatCompletionTool[] = [{ type: 'function', function: { name: 'get_weather' } }];
const QUESTION: Messages = [{ role: 'user', content: 'How is the weather?' }];
const ASKS = { calls: [{ id: 'c1', name: 'get_weather', arguments: {} }] };
const DAY_MS = 86_400_000;
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const tools = new WaitingTools();
const folder = newFolder();
let llm: FakeLlm;
let jackdaw: Jackdaw;

function start(env: Readonly<Record<string, string>> = {}): Promise<Jackdaw> {
  return startJackdaw({
    llm,
    tools: [tools],
    dataDir: folder,
    env: { API_KEYS: [ANN, BOB, VIC].map(({ entry }) => entry).join(), LLM_MAX_ATTEMPTS: '1', ...env },
    options: { workflows: [new WorkflowBuilder('echo').add(new LlmNode('say', 'Say {{input.query}}')).build()] },
  });
}

function clientOf({ key }: { readonly key: string }): OpenAI {
  return new OpenAI({ baseURL: `${jackdaw.url}/v1`, apiKey: key });
}

function ask(messages: Messages = QUESTION, more: object = {}, holder = ANN) {
  return clientOf(holder).chat.completions.create({ model: 'default', messages, tools: TOOLS, ...more });
}

/** The conversation with the result of the only call of an answer. */
function withResult(answer: OpenAI.Chat.ChatCompletion, content: string): Messages {
  const { message } = answer.choices[0]!;
  return [...QUESTION, message, { role: 'tool', tool_call_id: message.tool_calls![0]!.id, content }];
}

beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await start();
});
afterEach(() => {
  llm.reset();
  tools.done.splice(0);
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
  rmSync(folder, { recursive: true });
});

describe('failures of chat completions', () => {
  it('authenticates, and answers in OpenAI’s format', async () => {
    await expect(ask(QUESTION, {}, { ...ANN, key: 'wrong' })).rejects.toMatchObject({
      status: 401,
      code: 'UNAUTHENTICATED',
      type: 'authentication_error',
    });
    await expect(ask(QUESTION, {}, VIC)).rejects.toMatchObject({ status: 403, code: 'FORBIDDEN' });
    await expect(clientOf(ANN).post('/chat/nothing')).rejects.toMatchObject({ status: 404, code: 'NOT_FOUND' });
    const { status, body } = await jackdaw.post('/v1/chat/completions', '{', ANN.headers);
    expect([status, body]).toMatchObject([400, { error: { code: 'MALFORMED_JSON', type: 'invalid_request_error' } }]);
    expect(llm.requests).toHaveLength(0);
  });

  it('hides responses of other principals', async () => {
    llm.reply({ text: 'of ann' });
    const { id } = await clientOf(ANN).responses.create({ model: 'default', input: 'x' });
    const { responses } = clientOf(BOB);
    const calls = [
      () => responses.retrieve(id),
      () => responses.retrieve(id, { stream: true }),
      () => responses.delete(id),
      () => responses.cancel(id),
      async () => (await responses.inputItems.list(id)).data,
      () => responses.create({ model: 'default', input: 'x', previous_response_id: id }),
      () => responses.create({ model: 'default', input: [{ type: 'item_reference', id: `msg_${id}_1` }] }),
    ];
    const statuses = await Promise.all(
      calls.map((call) =>
        call().then(
          () => 200,
          ({ status }) => status as number,
        ),
      ),
    );
    expect(statuses).toEqual([404, 404, 404, 404, 404, 404, 400]);
    expect((await clientOf(ANN).responses.retrieve(id)).output_text).toBe('of ann');
    await expect(clientOf(VIC).responses.create({ model: 'default', input: 'x' })).rejects.toMatchObject({
      status: 403,
    });
  });

  it('lets the SDK repeat a request that failed before any effect', async () => {
    llm.always({ status: 503, body: { error: { message: 'busy' } } });
    await expect(ask()).rejects.toMatchObject({ status: 502, code: 'MODEL_UNAVAILABLE' });
    expect(llm.requests).toHaveLength(3);
  });

  it('has a status of its own for a stream that fails before its first text', async () => {
    llm.always({ status: 401, body: { error: { message: 'no' } } });
    const stream = clientOf(ANN).chat.completions.create({ model: 'default', messages: QUESTION, stream: true });
    await expect(stream).rejects.toMatchObject({ status: 502, code: 'MODEL_AUTHENTICATION' });
    // Another request has the same key.
    expect(llm.requests).toHaveLength(1);
  });

  it('does not let the SDK repeat a request that failed after an effect', async () => {
    llm.reply({ calls: [{ name: 'send', arguments: { text: 'hello' } }] });
    llm.always({ status: 503, body: { error: { message: 'busy' } } });
    await expect(ask()).rejects.toMatchObject({ status: 400, code: 'MODEL_UNAVAILABLE' });
    expect(tools.done).toEqual(['send hello']);
    expect(llm.requests).toHaveLength(2);
  });

  it('ends a stream with an error of the API after its first text', async () => {
    llm.reply({ text: 'one two three', cutAfter: 3 });
    llm.always({ status: 503, body: { error: { message: 'busy' } } });
    const stream = await clientOf(ANN).chat.completions.create({ model: 'default', messages: QUESTION, stream: true });
    let text = '';
    const read = async () => {
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
    };
    await expect(read()).rejects.toMatchObject({ code: expect.stringMatching(/^MODEL_/), type: 'server_error' });
    expect(text).toMatch(/^one /);
  });

  it('never resumes the run of another principal', async () => {
    llm.reply(ASKS, { text: 'of bob' });
    const first = await ask();
    const second = await ask(withResult(first, 'rain'), {}, BOB);
    expect(second.id).not.toBe(first.id);
    expect(second.choices[0]!.message.content).toBe('of bob');
    const { body } = await jackdaw.get(`/api/runs/${first.id.replace('chatcmpl-', '')}`, ANN.headers);
    expect(body['status']).toBe('waiting');
  });

  it('starts another run for a result that differs from the recorded one', async () => {
    llm.reply(ASKS, { text: 'rain' }, { text: 'sun' });
    const first = await ask();
    expect((await ask(withResult(first, 'rain'))).id).toBe(first.id);
    const other = await ask(withResult(first, 'sun'));
    expect(other.id).not.toBe(first.id);
    expect(other.choices[0]!.message.content).toBe('sun');
  });

  it('finds the run of a repeated request, also when its model uses the same call id twice', async () => {
    llm.reply(ASKS, ASKS, { text: 'The end.' });
    const first = await ask();
    const messages = withResult(first, 'rain');
    const second = await ask(messages);
    const { message } = second.choices[0]!;
    const result = { role: 'tool' as const, tool_call_id: message.tool_calls![0]!.id, content: 'sun' };
    expect((await ask([...messages, message, result])).choices[0]!.message.content).toBe('The end.');
    expect((await ask(messages)).choices[0]).toMatchObject({ finish_reason: 'tool_calls', message });
    expect(llm.requests).toHaveLength(3);
  });

  it('replays a repeated request with the same Idempotency-Key', async () => {
    llm.reply({ text: 'once' });
    const options = { headers: { 'idempotency-key': 'k1' } };
    const body = { model: 'default', messages: QUESTION };
    const first = await clientOf(ANN).chat.completions.create(body, options);
    const again = await clientOf(ANN).chat.completions.create(body, options);
    expect([again.id, again.choices[0]!.message.content]).toEqual([first.id, 'once']);
    expect(llm.requests).toHaveLength(1);
  });

  it('shows images of the question and of the history to the model', async () => {
    llm.reply({ text: 'A pixel.' });
    const image = { type: 'image_url' as const, image_url: { url: PIXEL } };
    await ask([
      { role: 'user', content: [image] },
      { role: 'assistant', content: 'Yes?' },
      { role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] },
    ]);
    expect(JSON.stringify(llm.requests[0]!.messages).split(PIXEL)).toHaveLength(3);
    await expect(
      ask([{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] }]),
    ).rejects.toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
  });

  it('runs a workflow with the question as its input', async () => {
    llm.reply({ text: 'hello' }, { text: 'hello again' });
    const plain = await ask([{ role: 'user', content: 'hi' }], { model: 'workflow:echo' });
    expect(plain.choices[0]!.message.content).toContain('hello');
    await ask([{ role: 'user', content: '{"query":"ho"}' }], { model: 'workflow:echo' });
    expect(llm.requests.map(({ messages }) => messages.at(-1)!.content)).toEqual(['Say hi', 'Say ho']);
  });

  it('ends the run whose client never sends a result, without a call of the model', async () => {
    llm.reply(ASKS);
    const first = await ask();
    await jackdaw.app.get(RunExpiryService, { strict: false }).expireDue(Date.now() + DAY_MS + 1000);
    const runId = first.id.replace('chatcmpl-', '');
    await jackdaw.events(runId, ANN.headers);
    const { body } = await jackdaw.get(`/api/runs/${runId}`, ANN.headers);
    expect(body).toMatchObject({ status: 'failed', error: { code: 'TOOL_EXPIRED' } });
    expect(llm.requests).toHaveLength(1);
  });

  it('reports a wait for a person as an error, by configuration', async () => {
    await jackdaw.stop();
    jackdaw = await start({ COMPATIBLE_API_WAITING: 'error' });
    llm.reply({ calls: [{ name: 'pay', arguments: { to: 'bob', amount: 5 } }] });
    await expect(ask()).rejects.toMatchObject({ status: 400, code: 'RUN_WAITING' });
    expect(llm.requests).toHaveLength(1);
  });

  it('is off by configuration', async () => {
    await jackdaw.stop();
    jackdaw = await start({ COMPATIBLE_API: 'off' });
    await expect(ask()).rejects.toMatchObject({ status: 404 });
  });
});

describe('a run that waits for a result of its client', () => {
  const world = ProcessWorld.prepare();

  it('resumes after the server was killed', async () => {
    world.llm.reply(ASKS, { text: 'It rains.' });
    const first = await world.start();
    const body = { model: 'default', messages: QUESTION, tools: TOOLS };
    const waiting = await new OpenAI({ baseURL: `${first.url}/v1`, apiKey: 'none' }).chat.completions.create(body);
    await first.kill();
    const second = await world.start();
    const client = new OpenAI({ baseURL: `${second.url}/v1`, apiKey: 'none' });
    const answer = await client.chat.completions.create({ ...body, messages: withResult(waiting, 'rain') });
    expect([answer.id, answer.choices[0]!.message.content]).toEqual([waiting.id, 'It rains.']);
    expect(world.llm.requests).toHaveLength(2);
  });
});
