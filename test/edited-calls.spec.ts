import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Database } from '../src/persistence/index.js';
import { LOOP_VERSION } from '../src/reasoning/index.js';
import { suspend, type Suspension } from '../src/tool/index.js';
import { Tool, type ToolContext } from '../src/tool/method/index.js';
import { byTurn, Forks } from './support/forks.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { callOf, decisionsIn, expectPairs, resultsIn, WaitingRun } from './support/waiting-run.js';
import { WaitingTools } from './support/waiting.tool.js';
import { rmSync } from 'node:fs';

const WRITTEN = { to: 'bob', amount: 500 };
const EDITED = { to: 'bob', amount: 50 };
const note = (edited: object) =>
  `[A person changed the arguments of this call to ${JSON.stringify(edited)}. The following is the result of the changed call.]`;
const pay = callOf('pay', WRITTEN);
const TEXT = z.object({ text: z.string() });

class ApprovedTools {
  @Tool({ description: 'Fails.', approval: 'always', input: TEXT })
  fail({ text }: { text: string }): never {
    throw new Error(`cannot do ${text}`);
  }

  @Tool({ description: 'Asks.', approval: 'always', input: TEXT })
  confirm({ text }: { text: string }, { answer }: ToolContext): Suspension | string {
    return answer ? `${text}: ${answer.value as string}` : suspend({ question: `${text}?` });
  }
}

let llm: FakeLlm;
let tools: WaitingTools;
let jackdaw: Jackdaw;
let forks: Forks;
const dataDir = newFolder();
let count = 0;

async function start(): Promise<void> {
  const agents = [
    { name: 'default', model: { provider: 'openai' } },
    { name: 'brief', model: { provider: 'openai' }, limits: { maxResultBytes: 1024 } },
    { name: 'clerk', model: { provider: 'openai' } },
    { name: 'boss', model: { provider: 'openai' }, subAgents: ['clerk'], approvals: ['ask_clerk'] },
  ];
  jackdaw = await startJackdaw({ llm, tools: [tools, new ApprovedTools()], dataDir, options: { agents } });
  forks = new Forks(jackdaw);
}

beforeAll(async () => {
  llm = await FakeLlm.start();
  tools = new WaitingTools();
  await start();
});
afterEach(() => {
  llm.reset();
  tools.done.length = 0;
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
  rmSync(dataDir, { recursive: true });
});

/** A run that waits for a person, in a new session. */
async function ask(
  calls: Parameters<typeof callOf>[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<WaitingRun & { session: string }> {
  const written = calls.length === 0 ? [pay] : calls.map((call) => callOf(...call));
  llm.always(byTurn({ text: 'I try.', calls: written }, { text: 'the end' }, { text: 'more' }));
  const session = `session-${++count}`;
  return Object.assign(await WaitingRun.begin(jackdaw, session, more), { session });
}

/** The messages of the model's last request after the last message of the user. */
function sent(): readonly Record<string, unknown>[] {
  const messages = llm.lastRequest.messages as unknown as Record<string, unknown>[];
  return messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
}

/** Marks a run as started by another release. */
async function setVersion(runId: string, version: number): Promise<void> {
  const sql = 'UPDATE run SET loop_version = ? WHERE id = ?';
  await jackdaw.app.get(Database).commit([{ sql, params: [version, runId], rows: 1 }]);
}

describe('a call whose arguments a person edited', () => {
  it('stays in the history as the model wrote it, and its result starts with a note', async () => {
    const run = await ask([]);
    const before = await run.events();
    const events = await run.after('approve', { arguments: EDITED });
    expect(decisionsIn(events)).toMatchObject([{ decision: 'approved', arguments_edited: true }]);
    expect(tools.done).toEqual(['pay bob 50']);
    const content = `${note(EDITED)}\npaid 50 to bob`;
    const written = { id: 'bob', function: { name: 'pay', arguments: JSON.stringify(WRITTEN) } };
    expect(sent()).toMatchObject([
      { role: 'assistant', tool_calls: [written] },
      { role: 'tool', tool_call_id: 'bob', content },
    ]);
    const [, call, result] = await expectPairs(jackdaw, run.session);
    expect(call).toMatchObject({ tool_calls: [{ arguments: JSON.stringify(WRITTEN) }] });
    expect(result).toMatchObject({ content });

    // The events contain both calls; their result has no note.
    const said = before.find(({ event }) => event === 'message.completed');
    expect(said?.data['tool_calls']).toMatchObject([{ arguments: JSON.stringify(WRITTEN) }]);
    expect(events.find(({ event }) => event === 'tool.started')?.data['arguments']).toBe(JSON.stringify(EDITED));
    const answer = await run.answer();
    expect(answer['steps']).toMatchObject([{ action_input: EDITED }, {}]);
    expect(answer['tool_results']).toMatchObject([{ result: 'paid 50 to bob' }]);
    const journal = await forks.journal(run.id);
    const step = (name: string) => JSON.stringify(journal.steps.find((one) => one.name === name)!.result);
    expect(step('model:1')).toContain(JSON.stringify(JSON.stringify(WRITTEN)));
    expect(step('answer:approval:1:1')).toContain(JSON.stringify(JSON.stringify(EDITED)));
    expect(JSON.parse(step('tool:1:1'))).toMatchObject({ success: true, result: 'paid 50 to bob' });
  });

  it('is sent with its note in later turns and in the export of its session', async () => {
    const run = await ask([]);
    await run.after('approve', { arguments: EDITED });
    await jackdaw.chat({ query: 'and now?', sessionId: run.session });
    const messages = JSON.stringify(llm.lastRequest.messages);
    expect(messages).toContain(JSON.stringify(JSON.stringify(WRITTEN)).slice(1, -1));
    expect(messages).toContain(JSON.stringify(note(EDITED)).slice(1, -1));
    const { body } = await jackdaw.get(`/api/sessions/${run.session}/export`);
    expect(JSON.stringify(body)).toContain(JSON.stringify(JSON.stringify(WRITTEN)).slice(1, -1));
    expect(JSON.stringify(body)).toContain(JSON.stringify(note(EDITED)).slice(1, -1));
    const copied = await jackdaw.post('/api/sessions/import', { session: body, id: `${run.session}-copy` });
    expect(copied.status).toBe(201);
    const of = async (id: string) =>
      (await jackdaw.messages(id)).map(({ content, tool_calls }) => [content, tool_calls]);
    expect(await of(`${run.session}-copy`)).toEqual(await of(run.session));
  });

  it('has the note before an error, too', async () => {
    const run = await ask([['fail', { text: 'a' }]]);
    const events = await run.after('approve', { arguments: { text: 'b' } });
    expect(sent()[1]).toMatchObject({ content: `${note({ text: 'b' })}\nError: cannot do b` });
    expect(resultsIn(events)).toEqual({ a: ['TOOL_FAILED', 'cannot do b'] });
  });

  it('retains the edited arguments when its tool asks a question', async () => {
    const run = await ask([['confirm', { text: 'a' }]]);
    await run.after('approve', { arguments: { text: 'b' } });
    expect((await run.answer())['waiting']).toMatchObject([
      { kind: 'input', arguments: '{"text":"b"}', question: 'b?' },
    ]);
    await run.after('input', { value: 'yes' });
    expect(sent()[1]).toMatchObject({ content: `${note({ text: 'b' })}\nb: yes` });
  });

  it('can be a call of another agent', async () => {
    llm.always(({ messages }) => {
      const [last] = messages.slice(-1);
      if (last!.role === 'tool') return { text: 'the end' };
      return last!.content === 'go'
        ? { calls: [callOf('ask_clerk', { query: 'pay eve' })] }
        : { text: `heard ${String(last!.content)}` };
    });
    const session = `session-${++count}`;
    const run = await WaitingRun.begin(jackdaw, session, { agent: 'boss' });
    await run.after('approve', { arguments: { query: 'pay bob' } });
    expect(await run.answer()).toMatchObject({ tool_results: [{ result: 'heard pay bob' }] });
    const [, call, result] = await expectPairs(jackdaw, session);
    expect(call).toMatchObject({ tool_calls: [{ arguments: '{"query":"pay eve"}' }] });
    expect(result).toMatchObject({ content: `${note({ query: 'pay bob' })}\nheard pay bob` });
  });

  it('has no note when the arguments stay the same', async () => {
    const run = await ask([]);
    await run.after('approve', { arguments: { amount: 500, to: 'bob' } });
    expect(sent()[1]).toMatchObject({ content: 'paid 500 to bob' });
  });

  it('is the only one of several calls with a note', async () => {
    const run = await ask([
      ['pay', WRITTEN],
      ['look', { text: 'x' }],
      ['pay', { to: 'eve', amount: 7 }],
    ]);
    await run.after('approve', { callId: 'eve', arguments: { to: 'eve', amount: 8 } });
    await run.after('approve');
    expect(sent().slice(1)).toMatchObject([
      { tool_call_id: 'bob', content: 'paid 500 to bob' },
      { tool_call_id: 'x', content: 'seen x' },
      { tool_call_id: 'eve', content: `${note({ to: 'eve', amount: 8 })}\npaid 8 to eve` },
    ]);
  });

  it('cuts long arguments in its note like a long result', async () => {
    const run = await ask([], { agent: 'brief' });
    await run.after('approve', { arguments: { to: 'x'.repeat(5000), amount: 1 } });
    const content = String(sent()[1]!['content']);
    expect(content).toMatch(
      /^\[A person changed the arguments of this call to \{"to":"x+… \[cut: 1024 of 5020 bytes shown\]/,
    );
    expect(Buffer.byteLength(content)).toBeLessThan(2400);
  });

  it('retains the note after a restart and in a fork', async () => {
    const run = await ask([
      ['pay', WRITTEN],
      ['pay', { to: 'eve', amount: 7 }],
    ]);
    await run.after('approve', { callId: 'bob', arguments: EDITED });
    await jackdaw.stop();
    await start();
    const again = run.on(jackdaw);
    await again.after('approve');
    const expected = [`${note(EDITED)}\npaid 50 to bob`, 'paid 7 to eve'];
    expect(
      sent()
        .slice(1)
        .map(({ content }) => content),
    ).toEqual(expected);
    const fork = await forks.make(run.id, 'model:2');
    expect(
      sent()
        .slice(1)
        .map(({ content }) => content),
    ).toEqual(expected);
    expect((await forks.journal(fork.id))['loop_version']).toBe(LOOP_VERSION);
    const edited = await forks.make(run.id, 'tool:1:2', { toolResult: 'given' });
    expect((await jackdaw.messages(edited.sessionId)).slice(2, 4).map(({ content }) => content)).toEqual([
      expected[0],
      'given',
    ]);
  });

  it('has the note if its run was cancelled before the next model request', async () => {
    const run = await ask([
      ['pay', WRITTEN],
      ['pay', { to: 'eve', amount: 7 }],
    ]);
    await run.after('approve', { callId: 'bob', arguments: EDITED });
    await run.after('cancel');
    const [, call, ...results] = await expectPairs(jackdaw, run.session);
    expect(call).toMatchObject({ tool_calls: [{ arguments: JSON.stringify(WRITTEN) }, {}] });
    expect(results[0]).toMatchObject({ content: `${note(EDITED)}\npaid 50 to bob` });
    expect(results[1]).toMatchObject({ content: expect.stringMatching(/^Error: Not executed/) });
  });
});

describe('an edited call of a run of loop version 1', () => {
  it("replaces the model's call, the old format", async () => {
    const run = await ask([]);
    await setVersion(run.id, 1);
    await run.after('approve', { arguments: EDITED });
    const edited = { function: { arguments: JSON.stringify(EDITED) } };
    expect(sent()).toMatchObject([{ tool_calls: [edited] }, { content: 'paid 50 to bob' }]);
    const [, call, result] = await expectPairs(jackdaw, run.session);
    expect(call).toMatchObject({ tool_calls: [{ arguments: JSON.stringify(EDITED) }] });
    expect(result).toMatchObject({ content: 'paid 50 to bob' });

    // A fork that reads the recorded replies has their format; a fork from the first step has the new format.
    const fork = await forks.make(run.id, 'model:2');
    expect(sent()).toMatchObject([{ tool_calls: [edited] }, { content: 'paid 50 to bob' }]);
    expect((await forks.journal(fork.id))['loop_version']).toBe(1);
    const anew = await forks.make(run.id, 'model:1');
    expect((await forks.journal(anew.id))['loop_version']).toBe(LOOP_VERSION);
    await new WaitingRun(jackdaw, anew.id).after('approve', { arguments: EDITED });
    expect(sent()).toMatchObject([
      { tool_calls: [{ function: { arguments: JSON.stringify(WRITTEN) } }] },
      { content: `${note(EDITED)}\npaid 50 to bob` },
    ]);
  });

  it('has the same format after an interruption of the run', async () => {
    const run = await ask([
      ['pay', WRITTEN],
      ['pay', { to: 'eve', amount: 7 }],
    ]);
    await setVersion(run.id, 1);
    await run.after('approve', { callId: 'bob', arguments: EDITED });
    await jackdaw.stop();
    await start();
    await run.on(jackdaw).after('approve');
    expect(sent()).toMatchObject([
      { tool_calls: [{ function: { arguments: JSON.stringify(EDITED) } }, {}] },
      { content: 'paid 50 to bob' },
      {},
    ]);
  });
});

it('a run of an unsupported version retains the note in its closed turn', async () => {
  const run = await ask([
    ['pay', WRITTEN],
    ['pay', { to: 'eve', amount: 7 }],
  ]);
  await run.after('approve', { callId: 'bob', arguments: EDITED });
  await setVersion(run.id, 0);
  const events = await run.after('approve');
  expect(events.at(-1)).toMatchObject({ event: 'run.failed', data: { error: { code: 'RUN_VERSION_UNSUPPORTED' } } });
  const [, call, result] = await expectPairs(jackdaw, run.session);
  expect(call).toMatchObject({ tool_calls: [{ arguments: JSON.stringify(WRITTEN) }, {}] });
  expect(result).toMatchObject({ content: `${note(EDITED)}\npaid 50 to bob` });
});
