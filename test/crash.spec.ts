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

function numbersTo(last: number): number[] {
  return Array.from({ length: last }, (_, i) => i + 1);
}

/** The events that the journal holds. */
function journaled(events: readonly SseEvent[]): SseEvent[] {
  return events.filter(({ id }) => id !== null);
}

interface Page {
  readonly messages: readonly { turn: number; role: string; tool_call_id?: string }[];
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
      data: { reason: 'outcome_unknown', calls: [{ step: 'tool:3:1', tool: 'once_step' }] },
    });
    const started = events.filter(({ event }) => event === 'tool.started').at(-1);
    expect(events.at(-1)!.data['calls']).toMatchObject([{ call_id: started!.data['call_id'] }]);

    await server.kill();
    server = await start();
    expect(await get(server, `runs/${runId}`)).toMatchObject({ status: 'waiting', is_complete: false });
    const again = journaled(await eventsOf(server, runId));
    expect(again).toEqual(journaled(events));
    expect(again.map(({ id }) => id)).toEqual(numbersTo(again.length));
    expect(effects()).toEqual(numbersTo(3).map((step) => `once_step ${step}`));
    expect(llm.requests.map(doneIn)).toEqual([0, 1, 2]);

    const next = await fetch(`${server.url}/api/agent/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'and now?', sessionId: SESSION }),
    });
    expect([next.status, await next.json()]).toMatchObject([409, { code: 'SESSION_BUSY', run_id: runId }]);
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
