import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStream, type SseEvent } from './support/event-stream.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { buildIfStale, killAll, ServerProcess } from './support/process.js';

const STEPS = 5;
const QUERY = 'do five steps';
const SESSION = 'crashing';

let llm: FakeLlm;
let folder: string;

beforeAll(async () => {
  buildIfStale();
  llm = await FakeLlm.start();
}, 120_000);
beforeEach(() => {
  llm.reset();
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-crash-'));
});
afterEach(async () => {
  await killAll();
  rmSync(folder, { recursive: true });
});
afterAll(() => llm.close());

/** A model that does the steps one after the other, from what the conversation shows. */
function stepByStep(tool: string) {
  return (request: FakeRequest): FakeReply => {
    const done = doneIn(request);
    return done < STEPS ? { calls: [{ name: tool, arguments: { step: done + 1 } }] } : { text: 'all done' };
  };
}

function doneIn({ messages }: FakeRequest): number {
  return messages.filter(({ role }) => role === 'tool').length;
}

function start(more: Record<string, string> = {}): Promise<ServerProcess> {
  return ServerProcess.serve({
    DATA_DIR: folder,
    EFFECTS_FILE: join(folder, 'effects'),
    LLM_PROVIDER: 'openai',
    OPENAI_API_KEY: 'test',
    OPENAI_BASE_URL: llm.url,
    ...more,
  });
}

/** Asks by a stream, whose headers name the run. */
async function ask(server: ServerProcess): Promise<{ stream: EventStream; runId: string }> {
  const stream = await EventStream.open(`${server.url}/api/agent/chat/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: { query: QUERY, sessionId: SESSION },
  });
  return { stream, runId: String(stream.headers['x-run-id']) };
}

function effects(): string[] {
  return readFileSync(join(folder, 'effects'), 'utf8').trimEnd().split('\n');
}

async function eventsOf(server: ServerProcess, runId: string): Promise<SseEvent[]> {
  return (await EventStream.open(`${server.url}/api/runs/${runId}/events`)).all();
}

async function get<T>(server: ServerProcess, path: string): Promise<T> {
  return (await (await fetch(`${server.url}/api/${path}`)).json()) as T;
}

async function post(server: ServerProcess, path: string, body: unknown): Promise<[number, Record<string, unknown>]> {
  const reply = await fetch(`${server.url}/api/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return [reply.status, (await reply.json()) as Record<string, unknown>];
}

function numbersTo(last: number): number[] {
  return Array.from({ length: last }, (_, i) => i + 1);
}

/** The events that the journal holds. */
function journaled(events: readonly SseEvent[]): SseEvent[] {
  return events.filter(({ id }) => id !== null);
}

interface Page {
  readonly messages: readonly { turn: number; role: string; tool_call_id?: string; tool_calls?: { id: string }[] }[];
}

/** The session has one turn, with one result right behind every call. */
async function expectPairs(server: ServerProcess): Promise<void> {
  const { messages } = await get<Page>(server, `sessions/${SESSION}/messages`);
  const asked = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  expect(messages.flatMap(({ tool_call_id }) => tool_call_id ?? [])).toEqual(asked);
  expect(new Set(messages.map(({ turn }) => turn))).toEqual(new Set([1]));
}

/** Runs until the process is killed in its third step, and gives the run's id. */
async function crashInStep3(tool: string): Promise<string> {
  llm.always(stepByStep(tool));
  const first = await start({ BLOCK_AT: `${tool} 3` });
  const { stream, runId } = await ask(first);
  await first.waitForLine(`performing ${tool} 3`);
  await stream.waitFor('tool.started', 3);
  await first.kill();
  return runId;
}

describe.each(['read_step', 'idempotent_step'])('kill -9 in step 3 of 5, %s', (tool) => {
  it('goes on at the next start: finished steps and model calls are not repeated, the cut off step is', async () => {
    const runId = await crashInStep3(tool);
    const second = await start();
    const events = await eventsOf(second, runId);

    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'all done', iterations: 6 } });
    // Two executions of step 3: this scenario can tell a repetition when there is one.
    expect(effects()).toEqual([1, 2, 3, 3, 4, 5].map((step) => `${tool} ${step}`));
    expect(llm.requests.map(doneIn)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await get(second, `runs/${runId}`)).toMatchObject({ status: 'completed', is_complete: true });
  });
});

describe('kill -9 in step 3 of 5', () => {
  it('leaves every event in order, numbered without a gap, and one whole turn in the session', async () => {
    const runId = await crashInStep3('read_step');
    const second = await start();
    const events = journaled(await eventsOf(second, runId));

    expect(events.map(({ id }) => id)).toEqual(numbersTo(events.length));
    const step = ['message.completed', 'usage', 'tool.started', 'tool.completed'];
    expect(events.map(({ event }) => event)).toEqual([
      'run.started',
      ...step,
      ...step,
      'message.completed',
      'usage',
      'tool.started',
      'run.resumed',
      'tool.started',
      'tool.completed',
      ...step,
      ...step,
      'message.completed',
      'usage',
      'run.completed',
    ]);
    const calls = events.filter(({ event }) => event === 'tool.completed').map(({ data }) => data['result']);
    expect(calls).toEqual(numbersTo(STEPS).map((n) => `did step ${n}`));

    await second.kill();
    const third = await start();
    const { messages } = await get<Page>(third, `sessions/${SESSION}/messages`);
    expect(new Set(messages.map(({ turn }) => turn))).toEqual(new Set([1]));
    const pairs = numbersTo(STEPS).flatMap(() => ['assistant', 'tool']);
    expect(messages.map(({ role }) => role)).toEqual(['user', ...pairs, 'assistant']);
  });

  it('repeats no tool that must not be repeated: the run waits and holds its session, after every further start', async () => {
    const runId = await crashInStep3('once_step');
    let server = await start();
    const events = await eventsOf(server, runId);
    expect(events.at(-1)).toMatchObject({
      event: 'run.waiting',
      data: { reason: 'outcome_unknown', requests: [{ id: 'settle:3:1', step: 'tool:3:1', tool: 'once_step' }] },
    });
    const started = events.filter(({ event }) => event === 'tool.started').at(-1);
    expect(events.at(-1)!.data['requests']).toMatchObject([{ call_id: started!.data['call_id'] }]);

    await server.kill();
    server = await start();
    expect(await get(server, `runs/${runId}`)).toMatchObject({ status: 'waiting', is_complete: false });
    const again = journaled(await eventsOf(server, runId));
    expect(again).toEqual(journaled(events));
    expect(again.map(({ id }) => id)).toEqual(numbersTo(again.length));
    expect(effects()).toEqual(numbersTo(3).map((step) => `once_step ${step}`));
    expect(llm.requests.map(doneIn)).toEqual([0, 1, 2]);

    const next = await post(server, 'agent/chat', { query: 'and now?', sessionId: SESSION });
    expect(next).toMatchObject([409, { code: 'SESSION_BUSY', run_id: runId }]);
  });

  it.each([
    ['retry', { outcome: 'retry' }, [1, 2, 3, 3, 4, 5]],
    ['succeeded', { outcome: 'succeeded', result: 'seen' }, [1, 2, 3, 4, 5]],
  ])('goes on when a further process is told what became of it: %s', async (_case, settlement, done) => {
    const runId = await crashInStep3('once_step');
    const second = await start();
    await eventsOf(second, runId);
    await second.kill();
    const third = await start();
    expect(await post(third, `runs/${runId}/settle`, settlement)).toMatchObject([202, { run_id: runId }]);
    const events = await eventsOf(third, runId);
    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'all done' } });
    expect(effects()).toEqual(done.map((step) => `once_step ${step}`));
    expect(llm.requests.map(doneIn)).toEqual([0, 1, 2, 3, 4, 5]);
    await expectPairs(third);
  });
});

describe('kill -9 while a run waits for approval', () => {
  it('loses nothing: another process is told, and what it was told outlives it too', async () => {
    llm.always((request) =>
      doneIn(request) === 0
        ? { calls: [{ id: 'c', name: 'approved_step', arguments: { step: 1 } }] }
        : { text: 'done' },
    );
    const first = await start();
    const [status, { run_id, waiting }] = await post(first, 'agent/chat', { query: QUERY, sessionId: SESSION });
    const runId = String(run_id);
    expect([status, waiting]).toMatchObject([202, [{ kind: 'approval', call_id: 'c' }]]);
    await first.kill();

    const second = await start({ BLOCK_AT: 'approved_step 1' });
    expect(await get(second, `runs/${runId}`)).toMatchObject({ status: 'waiting', waiting });
    expect((await post(second, `runs/${runId}/approve`, {}))[0]).toBe(202);
    await second.waitForLine('performing approved_step 1');
    await second.kill();

    const third = await start();
    expect((await eventsOf(third, runId)).at(-1)).toMatchObject({ data: { reason: 'outcome_unknown' } });
    expect((await post(third, `runs/${runId}/approve`, {}))[0]).toBe(409);
    expect((await post(third, `runs/${runId}/settle`, { outcome: 'succeeded', result: 'seen' }))[0]).toBe(202);
    const events = journaled(await eventsOf(third, runId));
    expect(events.at(-1)?.event).toBe('run.completed');
    expect(events.map(({ id }) => id)).toEqual(numbersTo(events.length));
    const decided = events.filter(({ event }) => event === 'policy.decided').map(({ data }) => data['decision']);
    expect([decided, effects()]).toEqual([['approved', 'settled'], ['approved_step 1']]);
    await expectPairs(third);
  });
});

describe('kill -9 while the model is asked', () => {
  it('asks that question again, and no other', async () => {
    const steps = stepByStep('read_step');
    llm.reply(steps, steps, { hang: true });
    const first = await start();
    const { runId } = await ask(first);
    await llm.waitForRequest(3);
    await first.kill();
    llm.always(steps);
    const second = await start();
    const events = await eventsOf(second, runId);

    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'all done' } });
    expect(llm.requests.map(doneIn)).toEqual([0, 1, 2, 2, 3, 4, 5]);
    expect(llm.requests[3]).toEqual(llm.requests[2]);
    expect(effects()).toEqual(numbersTo(STEPS).map((step) => `read_step ${step}`));
    const ids = journaled(events).map(({ id }) => id);
    expect(ids).toEqual(numbersTo(ids.length));
  });
});
