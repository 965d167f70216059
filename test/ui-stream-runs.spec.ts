import { expect, it } from 'vitest';
import { describeAiSdk } from './support/ai-sdk.js';
import { gate } from './support/jackdaw.js';
import { ANN, BOB, VIC, UiWorld } from './support/ui-world.js';

const PAY = { calls: [{ id: 'c1', name: 'pay', arguments: { to: 'bob', amount: 5 } }] };

describeAiSdk('runs of the UI message stream', (sdk) => {
  const world = UiWorld.prepare(sdk);
  const { tools } = world;

  it('cancels the run when the page stops', async () => {
    const held = gate();
    world.llm.reply(
      { text: 'I look.', calls: [{ name: 'look', arguments: { text: 'x' } }] },
      { gate: held.opened, text: 'x' },
    );
    let runId = '';
    const chat = world.open({ onMessage: ({ metadata }) => (runId = metadata?.run_id ?? runId) });
    const sent = chat.sendMessage({ text: 'x' });
    await world.llm.waitForRequest(2);
    await chat.stop();
    await sent;
    const events = await world.jackdaw.events(runId, ANN.headers);
    expect(events.at(-1)?.event).toBe('run.cancelled');
    held.open();
  });

  it('resumes the stream of an open run from its start, for its principal only', async () => {
    const held = gate();
    world.llm.reply(
      { text: 'I look.', calls: [{ name: 'look', arguments: { text: 'x' } }] },
      { gate: held.opened, text: 'I saw x.' },
    );
    const first = world.open({ id: 'chat-1', body: { resume: true } });
    const sent = first.sendMessage({ text: 'x' });
    await world.llm.waitForRequest(2);
    await first.stop();
    await sent;
    const again = world.open({ id: 'chat-1', messages: first.messages });
    const resumed = again.resumeStream();
    for (const { headers, id } of [
      { headers: BOB.headers, id: 'chat-1' },
      { headers: ANN.headers, id: 'chat-2' },
    ])
      expect((await fetch(`${world.jackdaw.url}/api/agent/ui/${id}/stream`, { headers })).status).toBe(204);
    held.open();
    await resumed;
    expect(again.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(world.partsOf(again)).toMatchObject([{ text: 'I look.' }, { output: 'seen x' }, { text: 'I saw x.' }]);
    expect(again.messages.at(-1)!.id).toBe(first.messages.at(-1)!.id);
    await again.resumeStream();
    expect([again.status, again.messages.length]).toEqual(['ready', 2]);
  });

  it('resumes the stream of a run that has waited, with the decision', async () => {
    const held = gate();
    world.llm.reply(PAY, { gate: held.opened, text: 'Ready.' });
    const first = await world.ask('Pay.', { id: 'chat-3', body: { resume: true } });
    await first.addToolApprovalResponse({ id: world.partsOf(first)[0]!.approval!.id, approved: true });
    const sent = first.sendMessage();
    await world.llm.waitForRequest(2);
    await first.stop();
    await sent;
    const again = world.open({ id: 'chat-3', messages: first.messages, onMessage: () => held.open() });
    await again.resumeStream();
    expect(world.partsOf(again)).toMatchObject([
      { toolName: 'pay', state: 'output-available', approval: { approved: true } },
      { type: 'text', text: 'Ready.' },
    ]);
    expect(again.messages).toHaveLength(2);
    expect(tools.done).toEqual(['pay bob 5']);
  });

  it('answers a repeated request with the same Idempotency-Key once', async () => {
    world.llm.reply({ text: 'once' });
    const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'x' }] }];
    const options = { id: 'chat-4', headers: { ...ANN.headers, 'idempotency-key': 'ui-1' }, messages };
    const [first, again] = [world.open(options), world.open(options)];
    await first.sendMessage();
    await again.sendMessage();
    expect([world.partsOf(first), again.messages]).toEqual([world.partsOf(again), first.messages]);
    expect(world.llm.requests).toHaveLength(1);
  });

  it.each([
    ['id', { id: '' }],
    ['messages', { messages: [] }],
    ['messages.0.role', { messages: [{ id: 'm', role: 'tool', parts: [] }] }],
    ['tools.0.name', { tools: [{ name: 'no name' }] }],
  ])('refuses an invalid %s', async (field, more) => {
    const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'x' }] }];
    const { status, body } = await world.jackdaw.post('/api/agent/ui', { id: 'c', messages, ...more }, ANN.headers);
    expect([status, body]).toMatchObject([400, { code: 'VALIDATION_FAILED', errors: [{ field }] }]);
    expect(world.llm.requests).toHaveLength(0);
  });

  it('is closed to other roles, and never resumes the run of another principal', async () => {
    const closed = await world.ask('x', { headers: VIC.headers });
    expect(closed.error).toMatchObject({ statusCode: 403 });
    world.llm.reply(PAY);
    const chat = await world.ask('Pay.');
    const { id } = world.partsOf(chat)[0]!.approval!;
    const other = world.open({ headers: BOB.headers, messages: chat.messages });
    await other.addToolApprovalResponse({ id, approved: true });
    await other.sendMessage();
    expect(other.error).toMatchObject({ statusCode: 409, message: expect.stringMatching(/RUN_NOT_WAITING/) });
    expect(tools.done).toEqual([]);
  });

  it('reports a wait for a person as an error, by configuration', async () => {
    await world.restart({ COMPATIBLE_API_WAITING: 'error' });
    world.llm.reply({ calls: [{ name: 'choose', arguments: { text: 'Rome' } }] });
    expect((await world.ask('Book.')).error?.message).toMatch(/^RUN_WAITING: /);
  });

  it('is off by configuration', async () => {
    await world.restart({ COMPATIBLE_API: 'off' });
    expect((await world.ask('x')).error).toMatchObject({ statusCode: 404 });
  });
});
