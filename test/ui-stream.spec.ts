import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeAiSdk, type Chat, type ChatOptions } from './support/ai-sdk.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { gate, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { WaitingTools } from './support/waiting.tool.js';

const ANN = keyHolder('ann', 'a', 'user');
const BOB = keyHolder('bob', 'a', 'user');
const VIC = keyHolder('vic', 'a', 'viewer');
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WEATHER = {
  name: 'get_weather',
  description: 'The weather of a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
};
const PAY = { calls: [{ id: 'c1', name: 'pay', arguments: { to: 'bob', amount: 5 } }] };

describeAiSdk('the UI message stream', (sdk) => {
  const tools = new WaitingTools();
  let llm: FakeLlm;
  let jackdaw: Jackdaw;

  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await start();
  });
  beforeEach(() => tools.done.splice(0));
  afterEach(() => llm.reset());
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  function start(env: Readonly<Record<string, string>> = {}): Promise<Jackdaw> {
    const API_KEYS = [ANN, BOB, VIC].map(({ entry }) => entry).join(',');
    const agents = [
      { name: 'default', model: { provider: 'openai' } },
      { name: 'poet', instructions: 'Write poems.', model: { provider: 'openai' } },
    ];
    return startJackdaw({ llm, tools: [tools], env: { API_KEYS, LLM_MAX_ATTEMPTS: '1', ...env }, options: { agents } });
  }

  function open(options: Partial<ChatOptions> = {}): Chat {
    return sdk().chat({ url: jackdaw.url, headers: ANN.headers, ...options });
  }

  async function ask(text: string, options: Partial<ChatOptions> = {}): Promise<Chat> {
    const chat = open(options);
    await chat.sendMessage({ text });
    return chat;
  }

  function partsOf({ messages }: Chat) {
    return messages.at(-1)!.parts.filter(({ type }) => type !== 'step-start');
  }

  /** The messages of the last request to the model, without instructions. */
  function lastMessages() {
    return llm.requests
      .at(-1)!
      .messages.slice(1)
      .map(({ role, content }) => [role, content]);
  }

  it('streams a text, and sends the history of the page to the model', async () => {
    llm.reply({ text: 'It is 42.' }, { text: 'Yes, 42.' });
    const chat = await ask('What is 6 * 7?');
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
    expect(partsOf(chat)).toMatchObject([{ type: 'text', text: 'It is 42.', state: 'done' }]);
    const { id, metadata } = chat.messages.at(-1)!;
    expect(metadata).toMatchObject({ run_id: expect.any(String), usage: { total_tokens: 15 } });
    expect(id).toBe(`msg_${metadata!.run_id}`);
    await chat.sendMessage({ text: 'Really?' });
    expect(lastMessages()).toEqual([
      ['user', 'What is 6 * 7?'],
      ['assistant', 'It is 42.'],
      ['user', 'Really?'],
    ]);
    expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  });

  it('has the headers of the protocol, and asks the agent that the page names', async () => {
    llm.reply({ text: 'A rose.' });
    const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Write.' }] }];
    const reply = await fetch(`${jackdaw.url}/api/agent/ui`, {
      method: 'POST',
      headers: { ...ANN.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'chat', messages, agent: 'poet', someMember: 1 }),
    });
    expect(reply.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    expect(reply.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const text = await reply.text();
    expect(text).toMatch(/^data: \{"type":"start",/);
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
    expect(llm.requests[0]!.messages[0]!.content).toMatch(/Write poems/);
  });

  it('has reasoning as a part of its own', async () => {
    llm.reply({ reasoning: 'Six times seven.', text: '42' });
    const chat = await ask('What is 6 * 7?');
    expect(partsOf(chat)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'reasoning', text: 'Six times seven.' }),
        expect.objectContaining({ type: 'text', text: '42' }),
      ]),
    );
  });

  it('shows calls of the server, which the model reads again in the next turn', async () => {
    llm.reply(
      { text: 'I look.', calls: [{ name: 'look', arguments: { text: 'x' } }] },
      { calls: [{ name: 'look', arguments: {} }] },
      { text: 'I saw x.' },
      { text: 'x' },
    );
    const chat = await ask('Look.');
    const call = { type: 'dynamic-tool', toolName: 'look', providerExecuted: true };
    expect(partsOf(chat)).toMatchObject([
      { type: 'text', text: 'I look.' },
      { ...call, state: 'output-available', input: { text: 'x' }, output: 'seen x' },
      { ...call, state: 'output-error', errorText: expect.stringMatching(/text/) },
      { type: 'text', text: 'I saw x.' },
    ]);
    expect(chat.messages.at(-1)!.parts.filter(({ type }) => type === 'step-start')).toHaveLength(3);
    await chat.sendMessage({ text: 'What did you see?' });
    expect(lastMessages()).toMatchObject([
      ['user', 'Look.'],
      ['assistant', 'I look.'],
      ['tool', 'seen x'],
      ['assistant', null],
      ['tool', expect.stringMatching(/^Error: /)],
      ['assistant', 'I saw x.'],
      ['user', 'What did you see?'],
    ]);
  });

  it.each([
    ['approves', true, { state: 'output-available', output: 'paid 5 to bob' }, ['pay bob 5']],
    ['denies', false, { state: 'output-denied' }, []],
  ])('%s a call, and the waiting run continues in the same message', async (_title, approved, part, done) => {
    llm.reply({ text: 'I pay.', ...PAY }, { text: 'Ready.' });
    const chat = await ask('Pay.');
    const asked = partsOf(chat)[1]!;
    expect(asked).toMatchObject({ toolName: 'pay', state: 'approval-requested', input: { to: 'bob', amount: 5 } });
    const { run_id: runId } = chat.messages.at(-1)!.metadata!;
    expect(asked.approval!.id).toBe(`approval_${runId}_1_1`);
    await chat.addToolApprovalResponse({ id: asked.approval!.id, approved, reason: 'my reason' });
    await chat.sendMessage();
    expect(chat.error).toBeUndefined();
    expect(chat.messages).toHaveLength(2);
    expect(partsOf(chat)).toMatchObject([
      { type: 'text', text: 'I pay.' },
      { toolName: 'pay', ...part },
      { type: 'text', text: 'Ready.' },
    ]);
    expect(chat.messages.at(-1)!.metadata).toMatchObject({ run_id: runId });
    expect(tools.done).toEqual(done);
  });

  it('executes tools in the page, whose outputs the waiting run continues with', async () => {
    llm.reply(
      { text: 'I ask.', calls: [{ id: 'c1', name: 'get_weather', arguments: { city: 'Oslo' } }] },
      { text: 'It rains.' },
    );
    const chat: Chat = open({
      body: { tools: [WEATHER] },
      sendAutomaticallyWhen: sdk().hasAllOutputs,
      onToolCall: ({ toolCall: { toolName: tool, toolCallId, input } }) =>
        void chat.addToolOutput({ tool, toolCallId, output: { input, sky: 'rain' } }),
    });
    await chat.sendMessage({ text: 'How is the weather?' });
    expect(chat.error).toBeUndefined();
    expect(partsOf(chat)).toMatchObject([
      { type: 'text', text: 'I ask.' },
      { type: 'tool-get_weather', state: 'output-available', output: { sky: 'rain' } },
      { type: 'text', text: 'It rains.' },
    ]);
    expect(lastMessages().at(-1)).toEqual(['tool', '{"input":{"city":"Oslo"},"sky":"rain"}']);
    expect(chat.messages).toHaveLength(2);
    llm.reply({ text: 'fine' });
    await chat.sendMessage({ text: 'Thanks.' });
    expect(lastMessages().map(([role]) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
  });

  it('shows images to the model', async () => {
    llm.reply({ text: 'A pixel.' }, { text: 'Still one.' });
    const chat = open();
    await chat.sendMessage({ text: 'What is it?', files: [{ type: 'file', mediaType: 'image/png', url: PIXEL }] });
    await chat.sendMessage({ text: 'And now?' });
    expect(llm.requests.map(({ messages }) => JSON.stringify(messages).split(PIXEL).length)).toEqual([2, 2]);
    await chat.sendMessage({ text: 'x', files: [{ type: 'file', mediaType: 'text/plain', url: 'data:,x' }] });
    expect(chat.error?.message).toMatch(/"code":"VALIDATION_FAILED"/);
  });

  it('names the run when a person must answer a question elsewhere', async () => {
    llm.reply({ calls: [{ name: 'choose', arguments: { text: 'Rome' } }] });
    const chat = await ask('Book.');
    const { run_id: runId } = chat.messages.at(-1)!.metadata!;
    expect(partsOf(chat).at(-1)).toMatchObject({ type: 'text', text: expect.stringContaining(runId) });
    expect(partsOf(chat).at(-1)!.text).toMatch(/Which one for Rome/);
  });

  it('has a status of its own for a failure before the first part', async () => {
    llm.always({ status: 401, body: { error: { message: 'no' } } });
    const chat = await ask('x');
    expect(chat.error).toMatchObject({
      statusCode: 502,
      message: expect.stringMatching(/"code":"MODEL_AUTHENTICATION"/),
    });
    expect(chat.messages).toHaveLength(1);
  });

  it('ends the stream with an error after the first part', async () => {
    llm.reply({ text: 'I look.', calls: [{ name: 'look', arguments: { text: 'x' } }] });
    llm.always({ status: 401, body: { error: { message: 'no' } } });
    const chat = await ask('x');
    expect([chat.status, chat.error?.message]).toEqual(['error', expect.stringMatching(/^MODEL_AUTHENTICATION: /)]);
    expect(partsOf(chat)).toMatchObject([{ text: 'I look.', state: 'done' }, { output: 'seen x' }]);
  });

  it('keeps both texts of a reply that starts again with another one', async () => {
    await jackdaw.stop();
    jackdaw = await start({ LLM_MAX_ATTEMPTS: '2' });
    llm.reply({ text: 'one two three', cutAfter: 3 }, { text: 'other words' });
    const chat = await ask('x');
    expect(partsOf(chat)).toMatchObject([
      { type: 'text', text: expect.stringMatching(/^one /), state: 'done' },
      { type: 'text', text: 'other words', state: 'done' },
    ]);
  });

  it('cancels the run when the page stops', async () => {
    const held = gate();
    llm.reply(
      { text: 'I look.', calls: [{ name: 'look', arguments: { text: 'x' } }] },
      { gate: held.opened, text: 'x' },
    );
    let runId = '';
    const chat = open({ onMessage: ({ metadata }) => (runId = metadata?.run_id ?? runId) });
    const sent = chat.sendMessage({ text: 'x' });
    await llm.waitForRequest(2);
    await chat.stop();
    await sent;
    const events = await (await jackdaw.follow(runId, undefined, ANN.headers)).rest();
    expect(events.at(-1)?.event).toBe('run.cancelled');
    held.open();
  });

  it('resumes the stream of an open run from its start, for its principal only', async () => {
    const held = gate();
    llm.reply(
      { text: 'I look.', calls: [{ name: 'look', arguments: { text: 'x' } }] },
      { gate: held.opened, text: 'I saw x.' },
    );
    const first = open({ id: 'chat-1', body: { resume: true } });
    const sent = first.sendMessage({ text: 'x' });
    await llm.waitForRequest(2);
    await first.stop();
    await sent;
    const again = open({ id: 'chat-1', messages: first.messages });
    const resumed = again.resumeStream();
    for (const { headers, id } of [
      { headers: BOB.headers, id: 'chat-1' },
      { headers: ANN.headers, id: 'chat-2' },
    ])
      expect((await fetch(`${jackdaw.url}/api/agent/ui/${id}/stream`, { headers })).status).toBe(204);
    held.open();
    await resumed;
    expect(again.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(partsOf(again)).toMatchObject([{ text: 'I look.' }, { output: 'seen x' }, { text: 'I saw x.' }]);
    expect(again.messages.at(-1)!.id).toBe(first.messages.at(-1)!.id);
    await again.resumeStream();
    expect([again.status, again.messages.length]).toEqual(['ready', 2]);
  });

  it('is closed to other roles, and never resumes the run of another principal', async () => {
    const closed = await ask('x', { headers: VIC.headers });
    expect(closed.error).toMatchObject({ statusCode: 403 });
    llm.reply(PAY);
    const chat = await ask('Pay.');
    const { id } = partsOf(chat)[0]!.approval!;
    const other = open({ headers: BOB.headers, messages: chat.messages });
    await other.addToolApprovalResponse({ id, approved: true });
    await other.sendMessage();
    expect(other.error).toMatchObject({ statusCode: 409, message: expect.stringMatching(/RUN_NOT_WAITING/) });
    expect(tools.done).toEqual([]);
  });

  it('reports a wait for a person as an error, by configuration', async () => {
    await jackdaw.stop();
    jackdaw = await start({ COMPATIBLE_API_WAITING: 'error' });
    llm.reply({ calls: [{ name: 'choose', arguments: { text: 'Rome' } }] });
    expect((await ask('Book.')).error?.message).toMatch(/^RUN_WAITING: /);
  });

  it('is off by configuration', async () => {
    await jackdaw.stop();
    jackdaw = await start({ COMPATIBLE_API: 'off' });
    expect((await ask('x')).error).toMatchObject({ statusCode: 404 });
  });
});
