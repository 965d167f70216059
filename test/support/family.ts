import { rmSync } from 'node:fs';
import { RunBus } from '../../src/run/run-bus.js';
import { isTerminal } from '../../src/run/run-event.types.js';
import type { SseEvent } from './event-stream.js';
import { newFolder, startJackdaw, type Jackdaw, type StartOptions } from './jackdaw.js';
import { FakeLlm } from './fake-llm.js';
import type { FakeCall, FakeReply, FakeRequest } from './fake-llm.types.js';
import { WaitingTools } from './waiting.tool.js';

const MODEL = { provider: 'openai' };

/** What the model of an agent says; which agent asks it knows by the instructions. */
export type Voice = (request: FakeRequest) => FakeReply | Promise<FakeReply>;

/** The results of calls that the model was shown in this turn, in order. */
export function resultsShown({ messages }: FakeRequest): unknown[] {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user'));
  return turn.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
}

/** What the user (or the agent that asks) said last. */
export function questionIn({ messages }: FakeRequest): unknown {
  return messages.findLast(({ role }) => role === 'user')?.content;
}

/** Which agent the request is of. */
export function agentIn({ messages }: FakeRequest): string {
  const [, name = ''] = /I am (\w+)/.exec(String(messages[0]?.content)) ?? [];
  return name;
}

/** Makes these calls at once, then says what came of them. */
export function callsThen(calls: readonly FakeCall[], say: (results: unknown[]) => string = String): Voice {
  return (request) => {
    const results = resultsShown(request);
    return results.length === 0
      ? { calls: calls.map((call, i) => ({ id: `c${i + 1}`, ...call })) }
      : { text: say(results) };
  };
}

export function ask(agent: string, query: string): FakeCall {
  return { name: `ask_${agent}`, arguments: { query } };
}

export interface ListedSession {
  readonly id: string;
  readonly parent_session_id: string | null;
  readonly turn_count: number;
  readonly message_count: number;
}

type Agents = NonNullable<NonNullable<StartOptions['options']>['agents']>;
type Relations = Readonly<Record<string, Omit<Partial<Agents[number]>, 'name' | 'model'>>>;

export interface FamilyOptions extends Pick<StartOptions, 'env' | 'options'> {
  /** Providers of tools, beside `WaitingTools`. */
  readonly more?: NonNullable<StartOptions['tools']>;
}

/** A server with agents that may ask one another, and the voice of each. */
export class Family {
  readonly voices = new Map<string, Voice>();
  readonly tools = new WaitingTools();
  readonly folder = newFolder();
  jackdaw!: Jackdaw;

  private constructor(
    readonly llm: FakeLlm,
    private readonly start: FamilyOptions,
  ) {}

  /** @param relations what of each agent is otherwise than by default; the first one is asked when nobody is named */
  static async begin(relations: Relations, start: FamilyOptions = {}): Promise<Family> {
    const llm = await FakeLlm.start();
    const agents = Object.entries(relations).map(([name, more]) => ({
      name,
      description: `Knows all of ${name}`,
      instructions: `I am ${name}.`,
      model: MODEL,
      tools: ['pay', 'look', 'choose'],
      ...more,
    }));
    const family = new Family(llm, { ...start, options: { ...start.options, agents } });
    await family.boot();
    return family;
  }

  /** Stops the server and starts another one on the same data. */
  async restart(): Promise<void> {
    await this.jackdaw.stop();
    await this.boot();
  }

  /** Who says what, from now on. */
  say(voices: Readonly<Record<string, Voice>>): void {
    this.llm.reset();
    this.voices.clear();
    for (const [name, voice] of Object.entries(voices)) this.voices.set(name, voice);
    this.listen();
  }

  /** The agents that asked their model, in order. */
  asked(): string[] {
    return this.llm.requests.map(agentIn);
  }

  async run(id: string): Promise<Record<string, never>> {
    return (await this.jackdaw.get(`/api/runs/${id}`)).body;
  }

  /** The sessions in which the agent of another one talks, as they are listed. */
  async sessionsBelow(id: string): Promise<ListedSession[]> {
    const { body } = await this.jackdaw.get('/api/sessions?limit=100');
    return (body['sessions'] as unknown as ListedSession[]).filter(({ parent_session_id }) => parent_session_id === id);
  }

  async stop(): Promise<void> {
    await this.jackdaw.stop();
    await this.llm.close();
    rmSync(this.folder, { recursive: true });
  }

  /** All that a run has told when it has ended, however often it waits before. */
  async untilEnd(runId: string): Promise<SseEvent[]> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const bus = this.jackdaw.app.get(RunBus, { strict: false });
    const unsubscribe = bus.subscribe(runId, ({ event }) => void (isTerminal(event) && resolve()));
    const { finish_reason } = await this.run(runId);
    if (finish_reason === null) await promise;
    unsubscribe();
    return this.jackdaw.events(runId);
  }

  private async boot(): Promise<void> {
    const { more = [], ...start } = this.start;
    this.jackdaw = await startJackdaw({ ...start, llm: this.llm, tools: [this.tools, ...more], dataDir: this.folder });
    this.listen();
  }

  private listen(): void {
    this.llm.always((request) => {
      const voice = this.voices.get(agentIn(request));
      return voice ? voice(request) : { status: 500, body: { error: { message: `${agentIn(request)} is silent` } } };
    });
  }
}
