import { expect } from 'vitest';
import assert from 'node:assert/strict';
import type { WaitingRequest } from '../../src/run/decision/index.js';
import type { RunEvent } from '../../src/run/event/index.js';
import type { SseEvent } from './event-stream.js';
import type { FakeCall } from './fake-llm.types.js';
import type { Answer, Jackdaw } from './jackdaw.js';
import type { JackdawClient } from './jackdaw-client.js';
import type { WaitingTools } from './waiting.tool.js';

type Headings = Readonly<Record<string, string>>;
type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

/** A call in a scripted reply; its id is the first value of its arguments, so that a test can name it. */
export function callOf(name: string, args: Readonly<Record<string, unknown>>): FakeCall {
  return { id: String(Object.values(args)[0]), name, arguments: args };
}

/** A waiting run, as a person and a follower see it. */
export class WaitingRun {
  /** The id of the last event that was read. */
  private place = 0;

  constructor(
    readonly jackdaw: Jackdaw,
    readonly id: string,
    private readonly headers: Headings = {},
  ) {}

  /** Starts a chat, and expects the 202 of a waiting run. */
  static async begin(jackdaw: Jackdaw, sessionId: string, more: Readonly<Record<string, unknown>> = {}) {
    const { status, body } = await jackdaw.chat({ query: 'go', sessionId, ...more });
    assert.deepEqual(
      [status, body['status'], body['is_complete'], body['finish_reason']],
      [202, 'waiting', false, null],
    );
    return new WaitingRun(jackdaw, String(body['run_id']));
  }

  /** The same run after a restart. */
  on(jackdaw: Jackdaw): WaitingRun {
    return new WaitingRun(jackdaw, this.id, this.headers);
  }

  /** The current requests of the run, after it waits. */
  async requests(): Promise<readonly WaitingRequest[]> {
    const last = (await this.events()).at(-1)?.data as Event<'run.waiting'>;
    assert.equal(last.type, 'run.waiting');
    const { body } = await this.jackdaw.get(`/api/runs/${this.id}`, this.headers);
    assert.deepEqual([body['status'], body['waiting']], ['waiting', last.requests]);
    return last.requests;
  }

  /** All events after the last one that was read, to the event that ends the stream. */
  async events(): Promise<readonly SseEvent[]> {
    const all = await (await this.jackdaw.follow(this.id, this.place, this.headers)).all();
    this.place = all.findLast(({ id }) => id !== null)?.id ?? this.place;
    return all;
  }

  /** Decides; an accepted decision is 202. */
  async decide(what: 'approve' | 'deny' | 'input' | 'settle' | 'cancel', body?: unknown): Promise<Answer> {
    return this.jackdaw.post(`/api/runs/${this.id}/${what}`, body, this.headers);
  }

  /** Decides. @returns the events until the run ends or waits again */
  async after(what: Parameters<WaitingRun['decide']>[0], body?: unknown): Promise<readonly SseEvent[]> {
    await this.events();
    const answer = await this.decide(what, body);
    assert.deepEqual([answer.status, answer.body['run_id'], answer.body['waiting']], [202, this.id, undefined]);
    return this.events();
  }

  async answer(): Promise<Answer['body']> {
    return (await this.jackdaw.get(`/api/runs/${this.id}`, this.headers)).body;
  }
}

/** Starts a run whose call never ends, and which a stop of the server interrupts. */
export async function beginHeld(jackdaw: Jackdaw, tools: WaitingTools, body: Readonly<Record<string, unknown>>) {
  tools.isHolding = true;
  const arrived = tools.arrived();
  const stream = await jackdaw.stream(body);
  await arrived;
  return new WaitingRun(jackdaw, String(stream.headers['x-run-id']));
}

/** The published results of a run, by call id. */
export function resultsIn(events: readonly SseEvent[]): Record<string, unknown> {
  const done = events.flatMap(({ data }) => (data.type === 'tool.completed' ? [data as Event<'tool.completed'>] : []));
  expect(new Set(done.map(({ call_id }) => call_id)).size).toBe(done.length);
  return Object.fromEntries(done.map(({ call_id, code, error, result }) => [call_id, code ? [code, error] : result]));
}

/** The published policy decisions. */
export function decisionsIn(events: readonly SseEvent[]): Record<string, unknown>[] {
  return events.flatMap(({ data }) => {
    if (data.type !== 'policy.decided') return [];
    const { type: _type, run_id: _run, ...decided } = data;
    return [decided];
  });
}

/** Every tool call in the session has exactly one result, right behind it. */
export async function expectPairs(jackdaw: JackdawClient, sessionId: string): Promise<Record<string, unknown>[]> {
  const messages = await jackdaw.messages(sessionId);
  expect(messages[0]).toMatchObject({ role: 'user', turn: 1 });
  const expected = messages.flatMap(({ role, tool_calls }) => {
    if (role === 'tool') return [];
    const calls = (tool_calls ?? []) as { id: string }[];
    return [role, ...calls.map(({ id }) => `result of ${id}`)];
  });
  expect(
    messages.map(({ role, tool_call_id }) => (role === 'tool' ? `result of ${String(tool_call_id)}` : role)),
  ).toEqual(expected);
  return messages;
}
