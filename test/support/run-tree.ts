import { rmSync } from 'node:fs';
import { RunBus } from '../../src/run/follow/run-bus.js';
import { isTerminal } from '../../src/run/event/run-event.types.js';
import type { SseEvent } from './event-stream.js';
import { newFolder, startJackdaw, type Jackdaw, type StartOptions } from './jackdaw.js';
import { FakeLlm } from './fake-llm.js';
import type { FakeCall, FakeReply, FakeRequest } from './fake-llm.types.js';
import { WaitingTools } from './waiting.tool.js';

const MODEL = { provider: 'openai' };

/** The replies of an agent's model; its instructions identify the agent. */
export type Voice = (request: FakeRequest) => FakeReply | Promise<FakeReply>;

/** The results of calls that the model was shown in this turn, in order. */
export function resultsShown({ messages }: FakeRequest): unknown[] {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user'));
  return turn.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
}

/** The last message of the user, or of the calling agent. */
export function questionIn({ messages }: FakeRequest): unknown {
  return messages.findLast(({ role }) => role === 'user')?.content;
}

/** The name of the agent that sent the request. */
export function agentIn({ messages }: FakeRequest): string {
  const [, name = ''] = /I am (\w+)/.exec(String(messages[0]?.content)) ?? [];
  return name;
}

/** Makes these calls at once, then answers with their results. */
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

export interface AgentTreeOptions extends Pick<StartOptions, 'env' | 'options'> {
  /** Providers of tools besides `WaitingTools`. */
  readonly more?: NonNullable<StartOptions['tools']>;
}

/** A server with agents that may ask each other, and a scripted voice for each. */
export class AgentTree {
  readonly voices = new Map<string, Voice>();
  readonly tools = new WaitingTools();
  readonly folder = newFolder();
  jackdaw!: Jackdaw;

  private constructor(
    readonly llm: FakeLlm,
    private readonly start: AgentTreeOptions,
  ) {}

  /** @param relations the settings of each agent that differ from the default; the first agent is the default one */
  static async begin(relations: Relations, start: AgentTreeOptions = {}): Promise<AgentTree> {
    const llm = await FakeLlm.start();
    const agents = Object.entries(relations).map(([name, more]) => ({
      name,
      description: `Knows all of ${name}`,
      instructions: `I am ${name}.`,
      model: MODEL,
      tools: ['pay', 'look', 'choose'],
      ...more,
    }));
    const tree = new AgentTree(llm, { ...start, options: { ...start.options, agents } });
    await tree.boot();
    return tree;
  }

  /** Stops the server and starts another one on the same data. */
  async restart(): Promise<void> {
    await this.jackdaw.stop();
    await this.boot();
  }

  /** Replaces the voices of the agents. */
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

  /** The sessions of sub-agents below a session, as they are listed. */
  async sessionsBelow(id: string): Promise<ListedSession[]> {
    const { body } = await this.jackdaw.get('/api/sessions?limit=100');
    return (body['sessions'] as unknown as ListedSession[]).filter(({ parent_session_id }) => parent_session_id === id);
  }

  async stop(): Promise<void> {
    await this.jackdaw.stop();
    await this.llm.close();
    rmSync(this.folder, { recursive: true });
  }

  /** All events of a run, after its end, across all of its waits. */
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
