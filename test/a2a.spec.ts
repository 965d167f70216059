import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import {
  answerOf,
  ask,
  type Binding,
  dataOf,
  dataPart,
  openClient,
  StreamLog,
  taskOf,
  textOf,
} from './support/a2a-world.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { WaitingTools } from './support/waiting.tool.js';

const MODEL = { provider: 'openai' };
const PAYS = { text: 'I pay.', calls: [{ id: 'c1', name: 'pay', arguments: { to: 'bob', amount: 5 } }] };
const CHOOSES = { calls: [{ id: 'c1', name: 'choose', arguments: { text: 'Oslo' } }] };

const tools = new WaitingTools();
let llm: FakeLlm;
let jackdaw: Jackdaw;

beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({
    llm,
    tools: [tools],
    options: {
      agents: [
        { name: 'default', model: MODEL, description: 'Answers questions.' },
        { name: 'formal', model: MODEL, responseFormat: 'json' },
        { name: 'strict', model: MODEL, waiting: { onDenied: 'end' } },
      ],
    },
  });
});
afterEach(() => {
  llm.reset();
  tools.done.splice(0);
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

describe.each<Binding>(['JSONRPC', 'HTTP+JSON', '0.3'])('the client of the A2A SDK over %s', (binding) => {
  let client: Client;
  beforeAll(async () => {
    client = await openClient(jackdaw.url, { binding });
  });

  it('sends a message and gets the task with its answer', async () => {
    llm.reply({ text: 'Hello' });
    const task = await taskOf(client.sendMessage(ask('Hi')));
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(answerOf(task)).toBe('Hello');
    expect(task.history.map(({ parts }) => textOf(parts))).toEqual(['Hi']);
    expect(await client.getTask({ tenant: '', id: task.id })).toEqual(task);
  });

  it('continues a conversation by its context', async () => {
    llm.reply({ text: 'Hello Ann' }, { text: 'Ann' });
    const first = await taskOf(client.sendMessage(ask('I am Ann.')));
    const second = await taskOf(client.sendMessage(ask('Who am I?', { contextId: first.contextId })));
    expect([second.contextId, second.id === first.id]).toEqual([first.contextId, false]);
    expect(JSON.stringify(llm.requests.at(-1)!.messages)).toContain('Hello Ann');
  });

  it('streams the text of the answer, which replaces the text before a call', async () => {
    llm.reply({ text: 'I look.', calls: [{ id: 'l', name: 'look', arguments: { text: 'x' } }] }, { text: 'I saw it.' });
    const log = await new StreamLog().read(client.sendMessageStream(ask('Look')));
    expect(log.artifacts.get('answer')).toBe('I saw it.');
    expect(log.kinds[0]).toBe(`task:${TaskState.TASK_STATE_SUBMITTED}`);
    expect(log.kinds).toContain('append');
    expect(log.kinds.slice(-2)).toEqual(['artifact', `statusUpdate:${TaskState.TASK_STATE_COMPLETED}`]);
    const task = await client.getTask({ tenant: '', id: log.taskId });
    expect(answerOf(task)).toBe('I saw it.');
    expect(task.history.map(({ parts }) => textOf(parts))).toEqual(['Look', 'I look.']);
  });

  it('answers the question of a tool with a text', async () => {
    llm.reply(CHOOSES, { text: 'You fly.' });
    const asked = await taskOf(client.sendMessage(ask('Fly')));
    expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(textOf(asked.status?.message?.parts)).toBe('Which one for Oslo?');
    const given = ask('KL2', { taskId: asked.id, contextId: asked.contextId });
    const done = await taskOf(client.sendMessage(given));
    expect([done.id, answerOf(done), tools.done]).toEqual([asked.id, 'You fly.', ['choose Oslo KL2']]);
    // The same message again is harmless.
    expect((await taskOf(client.sendMessage(given))).id).toBe(asked.id);
    expect(tools.done).toHaveLength(1);
  });

  it('approves a call, and streams the rest', async () => {
    llm.reply(PAYS, { text: 'Paid.' });
    const first = await new StreamLog().read(client.sendMessageStream(ask('Pay bob')));
    expect(first.kinds.at(-1)).toBe(`statusUpdate:${TaskState.TASK_STATE_INPUT_REQUIRED}`);
    const { taskId } = first;
    const waiting = await client.getTask({ tenant: '', id: taskId });
    const { interrupts } = dataOf(waiting.status?.message?.parts) as { interrupts: { id: string; reason: string }[] };
    expect(interrupts).toMatchObject([{ reason: 'tool_call' }]);
    const resume = [{ interruptId: interrupts[0]!.id, status: 'resolved', payload: { approved: true } }];
    const log = await new StreamLog().read(client.sendMessageStream(ask([dataPart({ resume })], { taskId })));
    expect([log.taskId, log.artifacts.get('answer'), tools.done]).toEqual([taskId, 'Paid.', ['pay bob 5']]);
    expect(log.kinds.at(-1)).toBe(`statusUpdate:${TaskState.TASK_STATE_COMPLETED}`);
  });

  it('follows a waiting task until another client has decided', async () => {
    llm.reply(PAYS, { text: 'Paid.' });
    const { id } = await taskOf(client.sendMessage(ask('Pay bob')));
    let isDecided = false;
    const log = await new StreamLog().read(client.resubscribeTask({ tenant: '', id }), async () => {
      if (isDecided) return;
      isDecided = true;
      await jackdaw.post(`/api/runs/${id}/approve`);
    });
    expect(log.artifacts.get('answer')).toBe('Paid.');
    expect(log.kinds[0]).toBe(`task:${TaskState.TASK_STATE_INPUT_REQUIRED}`);
    expect(log.kinds.at(-1)).toBe(`statusUpdate:${TaskState.TASK_STATE_COMPLETED}`);
  });

  it('cancels a task', async () => {
    llm.reply({ hang: true });
    const task = await taskOf(client.sendMessage(ask('Wait', {}, { returnImmediately: true })));
    expect(task.status?.state).not.toBe(TaskState.TASK_STATE_COMPLETED);
    await llm.waitForRequest(1);
    const cancelled = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    await expect(client.cancelTask({ tenant: '', id: task.id, metadata: undefined })).rejects.toMatchObject({
      name: expect.stringMatching(/TaskNotCancelable/),
    });
  });

  it('gets the errors of the protocol', async () => {
    llm.reply({ text: 'Done' });
    const { id } = await taskOf(client.sendMessage(ask('Hi')));
    const errors = await Promise.all(
      [
        client.getTask({ tenant: '', id: 'none' }),
        client.sendMessage(ask('Again', { taskId: id })),
        client.sendMessage(ask('Again', { taskId: 'none' })),
        new StreamLog().read(client.resubscribeTask({ tenant: '', id })),
        client.sendMessage(
          ask([
            { ...dataPart(null), content: { $case: 'raw', value: Buffer.from('x') }, mediaType: 'application/pdf' },
          ]),
        ),
      ].map((call) => call.then(() => 'none', errorName)),
    );
    expect(errors).toEqual([
      'TaskNotFound',
      'UnsupportedOperation',
      'TaskNotFound',
      'UnsupportedOperation',
      'ContentTypeNotSupported',
    ]);
  });

  it('reports a failed, a rejected and a formatted task', async () => {
    llm.reply({ status: 400, body: { error: { message: 'no' } } });
    const failed = await taskOf(client.sendMessage(ask('Hi')));
    expect(failed.status?.state).toBe(TaskState.TASK_STATE_FAILED);
    llm.reply({ text: '{"a":1}' });
    const formal = await openClient(jackdaw.url, { agent: 'formal', binding });
    const { artifacts } = await taskOf(formal.sendMessage(ask('Hi')));
    expect(dataOf(artifacts[0]?.parts)).toEqual({ a: 1 });
    llm.reply(PAYS);
    const strict = await openClient(jackdaw.url, { agent: 'strict', binding });
    const { id } = await taskOf(strict.sendMessage(ask('Pay bob')));
    await jackdaw.post(`/api/runs/${id}/deny`);
    await jackdaw.events(id);
    const denied = await strict.getTask({ tenant: '', id });
    expect([denied.status?.state, tools.done]).toEqual([TaskState.TASK_STATE_REJECTED, []]);
  });
});

describe.each<Binding>(['JSONRPC', 'HTTP+JSON'])('ListTasks over %s', (binding) => {
  it('pages through the tasks of a context, with and without their content', async () => {
    const client = await openClient(jackdaw.url, { binding });
    llm.reply({ text: 'One' }, { text: 'Two' }, PAYS);
    const { contextId } = await taskOf(client.sendMessage(ask('1')));
    await taskOf(client.sendMessage(ask('2', { contextId })));
    await taskOf(client.sendMessage(ask('Pay', { contextId })));
    const anyState = TaskState.TASK_STATE_UNSPECIFIED;
    const filter = { tenant: '', contextId, status: anyState, pageToken: '', statusTimestampAfter: undefined };
    const first = await client.listTasks({ ...filter, pageSize: 2 });
    expect([first.tasks.length, first.totalSize, first.pageSize, first.nextPageToken !== '']).toEqual([2, 3, 2, true]);
    expect(first.tasks[0]).toMatchObject({ contextId, artifacts: [], history: [] });
    const rest = { ...filter, pageToken: first.nextPageToken, includeArtifacts: true, historyLength: 5 };
    const second = await client.listTasks(rest);
    expect([second.nextPageToken, answerOf(second.tasks[0]!), textOf(second.tasks[0]!.history[0]!.parts)]).toEqual([
      '',
      'One',
      '1',
    ]);
    const waiting = await client.listTasks({ ...filter, status: TaskState.TASK_STATE_INPUT_REQUIRED });
    expect(waiting.tasks.map(({ status }) => status?.state)).toEqual([TaskState.TASK_STATE_INPUT_REQUIRED]);
    expect((await client.listTasks({ ...filter, contextId: 'none' })).tasks).toEqual([]);
    await expect(client.listTasks({ ...filter, pageSize: 101 })).rejects.toThrow('pageSize');
  });
});

function errorName(error: unknown): string {
  const { cause, name } = error as Error;
  const found = cause instanceof Error ? cause.name : name;
  return found.replace(/^(JsonRpc|Rest)/, '').replace(/Error$/, '');
}
