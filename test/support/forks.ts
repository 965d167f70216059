import { afterAll, afterEach, beforeAll } from 'vitest';
import type { SseEvent } from './event-stream.js';
import { FakeLlm } from './fake-llm.js';
import type { FakeReply, FakeRequest } from './fake-llm.types.js';
import { startJackdaw, type Answer, type Jackdaw, type StartOptions } from './jackdaw.js';
import { TestTools } from './test.tool.js';

/** A step in the format of `GET runs/:id/journal`. */
export interface JournaledStep {
  readonly position: number;
  readonly name: string;
  readonly kind: string;
  readonly subject: string;
  readonly result: unknown;
  readonly epoch: number;
  readonly created_at: number;
}

export interface JournaledEvent {
  readonly n: number;
  readonly type: string;
  readonly data: Record<string, unknown>;
  readonly created_at: number;
}

export interface JournalPage {
  readonly steps: readonly JournaledStep[];
  readonly events: readonly JournaledEvent[];
  readonly next: number | null;
  readonly [fact: string]: unknown;
}

/** Replies by the number of answers since the last user message: repeated requests get the same reply. */
export function byTurn(...replies: FakeReply[]): (request: FakeRequest) => FakeReply {
  return ({ messages }) => {
    const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user'));
    return replies[since.filter(({ role }) => role === 'assistant').length] ?? { status: 500 };
  };
}

/** A fork, followed to the end of its stream. */
export interface ForkedRun {
  readonly id: string;
  readonly sessionId: string;
  readonly events: readonly SseEvent[];
}

export class Forks {
  constructor(private readonly jackdaw: Jackdaw) {}

  post(runId: string, body: unknown, headers?: Record<string, string>): Promise<Answer> {
    return this.jackdaw.post(`/api/runs/${runId}/fork`, body, headers);
  }

  /** Forks a run and follows the new one. Throws when the fork is refused. */
  async make(runId: string, fromStep: string, edit?: unknown, more: object = {}): Promise<ForkedRun> {
    const { status, body, headers, text } = await this.post(runId, {
      fromStep,
      ...(edit !== undefined && { edit }),
      ...more,
    });
    if (status !== 202) throw new Error(`The fork was refused: ${text}`);
    const id = String(body['run_id']);
    if (headers.get('location') !== `/api/runs/${id}`) throw new Error('The fork does not say where it is.');
    const events = await this.jackdaw.events(id);
    return { id, sessionId: String(body['session_id']), events };
  }

  /** The whole journal, read in one page. */
  async journal(runId: string, headers?: Record<string, string>): Promise<JournalPage> {
    const { body } = await this.jackdaw.get(`/api/runs/${runId}/journal?limit=200`, headers);
    return body as unknown as JournalPage;
  }

  /** The names of the recorded steps, in order. */
  async steps(runId: string): Promise<string[]> {
    return (await this.journal(runId)).steps.map(({ name }) => name);
  }

  /** The outcome of a run, without values that differ from run to run. */
  async outcome(runId: string): Promise<Record<string, unknown>> {
    const { body } = await this.jackdaw.get(`/api/runs/${runId}`);
    const {
      run_id: _run,
      session_id: _session,
      duration_ms: _ms,
      forked_from: _from,
      ...rest
    } = body as Record<string, unknown>;
    const results = rest['tool_results'] as Record<string, unknown>[];
    return { ...rest, tool_results: results.map(({ execution_time_ms: _time, ...result }) => result) };
  }
}

const MODEL = { provider: 'openai', name: 'first-model' };

export const call = (id: string, name: string, args: Record<string, unknown>) => ({ id, name, arguments: args });
export const double = (id: string, n: number) => call(id, 'double', { n });
const shout = (id: string, input: string) => call(id, 'shout', { input });

/** Two calls, then one, then the answer. */
const SCRIPT = byTurn(
  { text: 'I compute.', calls: [double('a', 1), shout('b', 'x')], usage: [10, 1] },
  { text: 'Once more.', calls: [double('c', 5)], usage: [20, 2] },
  { text: 'the end', usage: [30, 3] },
);
/** The steps that a run of the script records. */
export const STEPS = ['value:window', 'model:1', 'tool:1:1', 'tool:1:2', 'model:2', 'tool:2:1', 'model:3'];

/** A server with runs to fork, and the fakes that its forks use. */
export class ForkWorld {
  llm!: FakeLlm;
  jackdaw!: Jackdaw;
  forks!: Forks;
  readonly tools = new TestTools();
  private count = 0;

  private constructor() {}

  static async start(more: StartOptions = {}): Promise<ForkWorld> {
    const world = new ForkWorld();
    await world.open(more);
    return world;
  }

  /** Call it at the top of a spec: all its tests share one world, whose records are cleared after each. */
  static prepare(): ForkWorld {
    const world = new ForkWorld();
    beforeAll(() => world.open());
    afterEach(() => world.reset());
    afterAll(() => world.stop());
    return world;
  }

  async stop(): Promise<void> {
    await this.jackdaw.stop();
    await this.llm.close();
  }

  /** A unique name. */
  newName(): string {
    return `name-${++this.count}`;
  }

  /** Clears the recorded requests and calls, and restores the script. */
  reset(): void {
    this.llm.reset();
    this.llm.always(SCRIPT);
    this.tools.called.length = 0;
  }

  /** A session whose first turn is a greeting and whose second one is a run of the script. */
  async talk(): Promise<{ runId: string; sessionId: string }> {
    const sessionId = this.newName();
    this.reset();
    this.llm.reply({ text: 'hello' });
    await this.jackdaw.chat({ query: 'hi', sessionId });
    const { body } = await this.jackdaw.chat({ query: 'go', sessionId });
    if (String(body['result']) !== 'the end') throw new Error('The script was not played.');
    this.reset();
    return { runId: String(body['run_id']), sessionId };
  }
  private async open(more: StartOptions = {}): Promise<void> {
    const agents = [
      { name: 'default', model: MODEL, tools: ['double', 'shout', 'pay', 'wait'] },
      { name: 'brief', model: { provider: 'openai', name: 'second-model' }, instructions: 'Be brief.' },
      { name: 'texter', model: MODEL, protocol: 'react' },
      { name: 'short', model: MODEL, limits: { maxIterations: 1 } },
    ];
    this.llm = await FakeLlm.start();
    this.jackdaw = await startJackdaw({ llm: this.llm, tools: [this.tools], options: { agents }, ...more });
    this.forks = new Forks(this.jackdaw);
  }
}
