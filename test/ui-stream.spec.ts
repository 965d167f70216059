import { expect, it } from 'vitest';
import { describeAiSdk, type Chat } from './support/ai-sdk.js';
import { ANN, UiWorld } from './support/ui-world.js';

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WEATHER = {
  name: 'get_weather',
  description: 'The weather of a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
};
const PAY = { calls: [{ id: 'c1', name: 'pay', arguments: { to: 'bob', amount: 5 } }] };

describeAiSdk('the UI message stream', (sdk) => {
  const world = UiWorld.prepare(sdk);
  const { tools } = world;

  it('streams a text, and sends the history of the page to the model', async () => {
    world.llm.reply({ text: 'It is 42.' }, { text: 'Yes, 42.' });
    const chat = await world.ask('What is 6 * 7?');
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
    expect(world.partsOf(chat)).toMatchObject([{ type: 'text', text: 'It is 42.', state: 'done' }]);
    const { id, metadata } = chat.messages.at(-1)!;
    expect(metadata).toMatchObject({ run_id: expect.any(String), usage: { total_tokens: 15 } });
    expect(id).toBe(`msg_${metadata!.run_id}`);
    await chat.sendMessage({ text: 'Really?' });
    expect(world.lastMessages()).toEqual([
      ['user', 'What is 6 * 7?'],
      ['assistant', 'It is 42.'],
      ['user', 'Really?'],
    ]);
    expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  });

  it('has the headers of the protocol, and asks the agent that the page names', async () => {
    world.llm.reply({ text: 'A rose.' });
    const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Write.' }] }];
    const reply = await fetch(`${world.jackdaw.url}/api/agent/ui`, {
      method: 'POST',
      headers: { ...ANN.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'chat', messages, agent: 'poet', someMember: 1 }),
    });
    expect(reply.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    expect(reply.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const text = await reply.text();
    expect(text).toMatch(/^data: \{"type":"start",/);
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
    expect(world.llm.requests[0]!.messages[0]!.content).toMatch(/Write poems/);
  });

  it('has reasoning as a part of its own', async () => {
    world.llm.reply({ reasoning: 'Six times seven.', text: '42' });
    const chat = await world.ask('What is 6 * 7?');
    expect(world.partsOf(chat)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'reasoning', text: 'Six times seven.' }),
        expect.objectContaining({ type: 'text', text: '42' }),
      ]),
    );
  });

  it('shows calls of the server, which the model reads again in the next turn', async () => {
    world.llm.reply(
      { text: 'I look.', calls: [{ name: 'look', arguments: { text: 'x' } }] },
      { calls: [{ name: 'look', arguments: {} }] },
      { text: 'I saw x.' },
      { text: 'x' },
    );
    const chat = await world.ask('Look.');
    const call = { type: 'dynamic-tool', toolName: 'look', providerExecuted: true };
    expect(world.partsOf(chat)).toMatchObject([
      { type: 'text', text: 'I look.' },
      { ...call, state: 'output-available', input: { text: 'x' }, output: 'seen x' },
      { ...call, state: 'output-error', errorText: expect.stringMatching(/text/) },
      { type: 'text', text: 'I saw x.' },
    ]);
    expect(chat.messages.at(-1)!.parts.filter(({ type }) => type === 'step-start')).toHaveLength(3);
    await chat.sendMessage({ text: 'What did you see?' });
    expect(world.lastMessages()).toMatchObject([
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
    world.llm.reply({ text: 'I pay.', ...PAY }, { text: 'Ready.' });
    const chat = await world.ask('Pay.');
    const asked = world.partsOf(chat)[1]!;
    expect(asked).toMatchObject({ toolName: 'pay', state: 'approval-requested', input: { to: 'bob', amount: 5 } });
    const { run_id: runId } = chat.messages.at(-1)!.metadata!;
    expect(asked.approval!.id).toBe(`approval_${runId}_1_1`);
    await chat.addToolApprovalResponse({ id: asked.approval!.id, approved, reason: 'my reason' });
    await chat.sendMessage();
    expect(chat.error).toBeUndefined();
    expect(chat.messages).toHaveLength(2);
    expect(world.partsOf(chat)).toMatchObject([
      { type: 'text', text: 'I pay.' },
      { toolName: 'pay', ...part },
      { type: 'text', text: 'Ready.' },
    ]);
    expect(chat.messages.at(-1)!.metadata).toMatchObject({ run_id: runId });
    expect(tools.done).toEqual(done);
  });

  it('executes tools in the page, whose outputs the waiting run continues with', async () => {
    world.llm.reply(
      { text: 'I ask.', calls: [{ id: 'c1', name: 'get_weather', arguments: { city: 'Oslo' } }] },
      { text: 'It rains.' },
    );
    const chat: Chat = world.open({
      body: { tools: [WEATHER] },
      sendAutomaticallyWhen: sdk().hasAllOutputs,
      onToolCall: ({ toolCall: { toolName: tool, toolCallId, input } }) =>
        void chat.addToolOutput({ tool, toolCallId, output: { input, sky: 'rain' } }),
    });
    await chat.sendMessage({ text: 'How is the weather?' });
    expect(chat.error).toBeUndefined();
    expect(world.partsOf(chat)).toMatchObject([
      { type: 'text', text: 'I ask.' },
      { type: 'tool-get_weather', state: 'output-available', output: { sky: 'rain' } },
      { type: 'text', text: 'It rains.' },
    ]);
    expect(world.lastMessages().at(-1)).toEqual(['tool', '{"input":{"city":"Oslo"},"sky":"rain"}']);
    expect(chat.messages).toHaveLength(2);
    world.llm.reply({ text: 'fine' });
    await chat.sendMessage({ text: 'Thanks.' });
    expect(world.lastMessages().map(([role]) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
  });

  it('shows images to the model', async () => {
    world.llm.reply({ text: 'A pixel.' }, { text: 'Still one.' });
    const chat = world.open();
    await chat.sendMessage({ text: 'What is it?', files: [{ type: 'file', mediaType: 'image/png', url: PIXEL }] });
    await chat.sendMessage({ text: 'And now?' });
    expect(world.llm.requests.map(({ messages }) => JSON.stringify(messages).split(PIXEL).length)).toEqual([2, 2]);
    await chat.sendMessage({ text: 'x', files: [{ type: 'file', mediaType: 'text/plain', url: 'data:,x' }] });
    expect(chat.error?.message).toMatch(/"code":"VALIDATION_FAILED"/);
  });

  it('names the run when a person must answer a question elsewhere', async () => {
    world.llm.reply({ calls: [{ name: 'choose', arguments: { text: 'Rome' } }] });
    const chat = await world.ask('Book.');
    const { run_id: runId } = chat.messages.at(-1)!.metadata!;
    expect(world.partsOf(chat).at(-1)).toMatchObject({ type: 'text', text: expect.stringContaining(runId) });
    expect(world.partsOf(chat).at(-1)!.text).toMatch(/Which one for Rome/);
  });

  it('has a status of its own for a failure before the first part', async () => {
    world.llm.always({ status: 401, body: { error: { message: 'no' } } });
    const chat = await world.ask('x');
    expect(chat.error).toMatchObject({
      statusCode: 502,
      message: expect.stringMatching(/"code":"MODEL_AUTHENTICATION"/),
    });
    expect(chat.messages).toHaveLength(1);
  });

  it('ends the stream with an error after the first part', async () => {
    world.llm.reply({ text: 'I look.', calls: [{ name: 'look', arguments: { text: 'x' } }] });
    world.llm.always({ status: 401, body: { error: { message: 'no' } } });
    const chat = await world.ask('x');
    expect([chat.status, chat.error?.message]).toEqual(['error', expect.stringMatching(/^MODEL_AUTHENTICATION: /)]);
    expect(world.partsOf(chat)).toMatchObject([{ text: 'I look.', state: 'done' }, { output: 'seen x' }]);
  });

  it('keeps both texts of a reply that starts again with another one', async () => {
    await world.restart({ LLM_MAX_ATTEMPTS: '2' });
    world.llm.reply({ text: 'one two three', cutAfter: 3 }, { text: 'other words' });
    const chat = await world.ask('x');
    expect(world.partsOf(chat)).toMatchObject([
      { type: 'text', text: expect.stringMatching(/^one /), state: 'done' },
      { type: 'text', text: 'other words', state: 'done' },
    ]);
  });
});
