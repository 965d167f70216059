import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AgUiClient, describeAgUi, type HttpAgent } from './support/ag-ui-clients.js';
import { AgUiWorld, ASKS, PAYS, QUESTION, WEATHER } from './support/ag-ui-world.js';
import { gate, newFolder } from './support/jackdaw.js';

const rolesOf = ({ messages }: HttpAgent) => messages.map(({ role }) => role);

let world: AgUiWorld;
beforeAll(async () => {
  world = await AgUiWorld.start();
});
afterEach(() => world.reset());
afterAll(() => world.stop());

describeAgUi('AG-UI', (client: AgUiClient) => {
  const open = (messages?: readonly object[], agent?: string) => world.open(client, messages, agent);
  const run = (agent: HttpAgent, parameters?: object) => world.run(client, agent, parameters);

  it('streams a text, with its step and the ids of the client', async () => {
    world.llm.reply({ text: 'one two three' });
    const agent = open();
    const { newMessages } = await run(agent, { runId: 'mine' });
    expect(newMessages).toMatchObject([{ role: 'assistant', content: 'one two three' }]);
    expect(world.events[0]).toMatchObject({ type: 'RUN_STARTED', threadId: agent.threadId, runId: 'mine' });
    expect(world.types.filter((type) => type !== 'TEXT_MESSAGE_CONTENT')).toEqual([
      'RUN_STARTED',
      'STEP_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED',
      'RUN_FINISHED',
    ]);
    expect(world.outcome).toEqual({ type: 'success' });
    expect(world.custom('usage')).toMatchObject({ total_tokens: 15 });
    expect(world.custom('run.completed')).toMatchObject({ finish_reason: 'stop', is_complete: true });
    expect((await world.jackdaw.get(`/api/runs/${world.runId}`)).body).toMatchObject({
      status: 'completed',
      session_id: null,
    });
  });

  it('streams reasoning, and calls of tools of the server with their results', async () => {
    world.llm.reply(
      { reasoning: 'Hm.', text: 'I look.', calls: [{ id: 'c1', name: 'look', arguments: { text: 'x' } }] },
      { text: 'I saw x.' },
    );
    const agent = open();
    await run(agent);
    expect(world.tools.done).toEqual(['look x']);
    const [, ...made] = agent.messages.filter(({ role }) => role !== 'reasoning');
    expect(made).toMatchObject([
      { role: 'assistant', content: 'I look.', toolCalls: [{ function: { name: 'look', arguments: '{"text":"x"}' } }] },
      { role: 'tool', content: 'seen x', toolCallId: made[0]!.toolCalls![0]!.id },
      { role: 'assistant', content: 'I saw x.' },
    ]);
    expect(agent.messages.find(({ role }) => role === 'reasoning')).toMatchObject({ content: 'Hm.' });
    expect(world.types.filter((type) => type.startsWith('STEP'))).toEqual([
      'STEP_STARTED',
      'STEP_FINISHED',
      'STEP_STARTED',
      'STEP_FINISHED',
    ]);
  });

  it('continues a thread with the messages of the client, its instructions and its context', async () => {
    world.llm.reply(
      { calls: [{ id: 'c1', name: 'look', arguments: { text: 'x' } }] },
      { text: 'Seen.' },
      { text: '42' },
    );
    const agent = open([{ id: 's1', role: 'system', content: 'Be brief.' }, QUESTION]);
    await run(agent);
    agent.addMessage({ id: 'q2', role: 'user', content: [{ type: 'text', text: 'What is 6 * 7?' }] });
    await run(agent, { context: [{ description: 'Page', value: 'Prices' }] });
    const [first, ...rest] = world.llm.requests.at(-1)!.messages.map(({ role, content }) => [role, content]);
    expect(first![1]).toMatch(/Be brief\.\n\nPage:\nPrices$/);
    expect(rest).toEqual([
      ['user', QUESTION.content],
      ['assistant', null],
      ['tool', 'seen x'],
      ['assistant', 'Seen.'],
      ['user', 'What is 6 * 7?'],
    ]);
  });

  it('ends with the calls of frontend tools, and resumes the run with their results', async () => {
    world.llm.reply(
      { ...ASKS, calls: [...ASKS.calls, { id: 'l', name: 'look', arguments: { text: 'x' } }] },
      { ...ASKS, text: 'Once more.' },
      { text: 'It rains.' },
    );
    const agent = open();
    await run(agent, { tools: [WEATHER] });
    const first = world.runId;
    for (const content of ['rain', 'more rain']) {
      const call = agent.messages.findLast(({ role }) => role === 'assistant')!.toolCalls![0]!;
      expect(call.function).toEqual({ name: 'get_weather', arguments: '{"city":"Oslo"}' });
      expect(world.outcome).toEqual({ type: 'success', ...(client.isCurrent && { pendingToolCallIds: [call.id] }) });
      agent.addMessage({ id: `of ${call.id}`, role: 'tool', toolCallId: call.id, content });
      await run(agent, { tools: [WEATHER], context: [{ description: 'Time', value: content }] });
      expect(world.runId).toBe(first);
    }
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'It rains.' });
    expect(rolesOf(agent).toSorted()).toEqual(['assistant', 'assistant', 'assistant', 'tool', 'tool', 'tool', 'user']);
    expect(world.llm.requests).toHaveLength(3);
    expect(world.llm.requests[2]!.messages.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual(
      [expect.stringMatching(/rain$/), expect.stringMatching(/seen x/), expect.stringMatching(/more rain$/)],
    );
  });

  it('cancels the run when the client aborts', async () => {
    const held = gate();
    world.llm.reply({ gate: held.opened, text: 'late' });
    const agent = open([{ ...QUESTION, content: 'abort me' }]);
    const running = run(agent);
    await world.llm.waitForRequest(1);
    agent.abortRun();
    await running;
    const { run_id: id, query_preview: text } = await world.listed();
    expect(text).toBe('abort me');
    await world.jackdaw.events(String(id));
    expect((await world.jackdaw.get(`/api/runs/${String(id)}`)).body).toMatchObject({ status: 'cancelled' });
    held.open();
  });

  it('runs two threads beside each other', async () => {
    const [first, second] = [gate(), gate()];
    world.llm.reply({ gate: first.opened, text: 'of one' }, { gate: second.opened, text: 'of two' });
    const [one, two] = [open(), open()];
    const runs = [one.runAgent()];
    await world.llm.waitForRequest(1);
    runs.push(two.runAgent());
    await world.llm.waitForRequest(2);
    second.open();
    await runs[1];
    first.open();
    await runs[0];
    expect([one, two].map(({ messages }) => messages.at(-1)!.content)).toEqual(['of one', 'of two']);
    expect(one.threadId).not.toBe(two.threadId);
  });

  it('continues a session that the request names', async () => {
    const named = { forwardedProps: { session_id: `talk-${client.version}` } };
    world.llm.reply({ text: 'Noted.' }, { text: 'Ann.' });
    await run(open([{ id: 'a', role: 'user', content: 'I am Ann.' }]), named);
    await run(open([{ id: 'b', role: 'user', content: 'Who am I?' }]), named);
    expect(
      world.llm.requests
        .at(-1)!
        .messages.slice(1)
        .map(({ content }) => content),
    ).toEqual(['I am Ann.', 'Noted.', 'Who am I?']);
  });

  it('runs the snippets of docs/ag-ui.md', async () => {
    world.llm.reply(PAYS, { text: 'Paid.' });
    const blocks = [...readFileSync('docs/ag-ui.md', 'utf8').matchAll(/^```js\n(.*?)^```$/gms)].map(
      ([, code = '']) => code,
    );
    const code = blocks
      .join('')
      .replace(/^import .*$/m, '')
      .replace('http://127.0.0.1:3000', world.jackdaw.url);
    const folder = newFolder();
    writeFileSync(join(folder, 'snippet.mjs'), `export async function run(HttpAgent, key, console) {${code}}`);
    const { run: runSnippets } = (await import(join(folder, 'snippet.mjs'))) as {
      run: (agent: AgUiClient['HttpAgent'], key: string, console: { log: (text: string) => void }) => Promise<void>;
    };
    const logged: string[] = [];
    await runSnippets(client.HttpAgent, 'none', { log: (text) => void logged.push(text) });
    expect([blocks.length, logged, world.tools.done]).toEqual([2, ['I pay.'], ['pay bob 5']]);
    rmSync(folder, { recursive: true });
  });
});
