import { AgentForkService, AgentService } from '../../src/agent/index.js';
import { AppError } from '../../src/errors/index.js';
import { newId } from '../../src/kernel/index.js';
import { RunService } from '../../src/run/index.js';
import { SessionAdminService, SessionService, type StoredTurn } from '../../src/session/index.js';
import { repairTurn } from '../../src/session/memory/history-repair.policy.js';
import { FakeLlm } from './fake-llm.js';
import type { FakeReply, FakeRequest } from './fake-llm.types.js';
import { anthropicFaults, openAiFaults } from './history-rules.js';
import { newFolder, startJackdaw, type Jackdaw } from './jackdaw.js';
import { nameOf, talkAgents, type PlannedReply, type PlannedTurn, type Talk, type TalkEvent } from './talk-plan.js';
import { toFakeReply } from './talk-reply.js';
import { TalkTools } from './talk.tool.js';

const WHO = { id: 'local', tenant: 'default', roles: ['admin'] };
/** A server with planned conversations and restarts in between; its model follows the plan. */
export class TalkWorld {
  /** Number of checked model requests. */
  asked = 0;
  /** The outcomes of runs. */
  readonly outcomes = new Set<string>();
  private readonly tools = new TalkTools();
  private replies: PlannedReply[] = [];
  private turn: PlannedTurn | null = null;
  private runId = Promise.withResolvers<string>();

  private constructor(
    private readonly llm: FakeLlm,
    private readonly env: Readonly<Record<string, string>>,
    private readonly dataDir: string,
    private jackdaw: Jackdaw,
  ) {}

  static async open(env: Readonly<Record<string, string>>): Promise<TalkWorld> {
    const llm = await FakeLlm.start();
    const world = new TalkWorld(llm, env, newFolder(), undefined as unknown as Jackdaw);
    llm.always((request) => world.reply(request));
    world.tools.onHang = () => void world.stop();
    await world.start();
    return world;
  }

  async close(): Promise<void> {
    await this.jackdaw.stop();
    await this.llm.close();
  }

  /**
   * Plays a talk in a session of its own.
   * @returns the reasons for which a model would have refused its requests, and the damaged turns of the session
   */
  async play({ imported, events }: Talk): Promise<string[]> {
    let session = newId();
    if (imported) await this.import(session, imported);
    for (const event of events) {
      session = await this.happen(event, session);
      const faults = [...this.llm.requests.flatMap(faultsOf), ...(await this.damaged(session))];
      this.asked += this.llm.requests.length;
      this.llm.requests.length = this.llm.envelopes.length = 0;
      if (faults.length > 0) return faults;
    }
    return [];
  }

  /** Damaged turns, except for imported ones. */
  private async damaged(session: string): Promise<string[]> {
    const turns = await this.turns(session);
    const own = turns.filter(({ runId }) => !runId.startsWith('imported'));
    return own.filter(({ messages }) => repairTurn(messages) !== messages).map((turn) => JSON.stringify(turn));
  }

  /** Empty before the first message. */
  private turns(session: string): Promise<StoredTurn[]> {
    return this.get(SessionService)
      .turns(WHO, session, 0, 1000)
      .catch(() => []);
  }

  private async happen(event: TalkEvent, session: string): Promise<string> {
    switch (event.kind) {
      case 'turn':
        await this.ask(event, session);
        return session;
      case 'fork':
        return this.fork(event.turn, session);
      case 'pin':
        await unlessGone(this.get(SessionAdminService).pin(WHO, session, event.turn, true));
        return session;
      case 'clear':
        await unlessGone(this.get(SessionAdminService).clear(WHO, session));
        return session;
      case 'restart':
        await this.jackdaw.stop();
        await this.start();
        this.outcomes.add('restart');
        return session;
    }
  }

  private async ask(turn: PlannedTurn, sessionId: string): Promise<void> {
    const { query, references } = turn;
    this.prepare(turn);
    const request = { query, sessionId, references, agent: nameOf(turn.agent) };
    const answer = await this.get(AgentService).chat(WHO, request, ({ id }) => this.runId.resolve(id));
    this.outcomes.add(answer.error?.code ?? answer.finish_reason ?? answer.status);
    if (answer.status === 'waiting') await this.abandon(answer.run_id);
  }

  private async abandon(runId: string): Promise<void> {
    const published = await this.jackdaw.events(runId);
    await this.get(RunService).cancel(WHO, runId);
    await (await this.jackdaw.follow(runId, published.at(-1)!.id!)).all();
  }

  /** Forks the last run of the session with another question. */
  private async fork(turn: PlannedTurn, session: string): Promise<string> {
    const last = (await this.turns(session)).at(-1);
    if (!last || last.runId.startsWith('imported')) return session;
    this.prepare(turn);
    const sessionId = newId();
    const edit = { message: turn.query, agent: nameOf(turn.agent) };
    const id = await this.get(AgentForkService).fork(WHO, last.runId, { fromStep: 'model:1', sessionId, edit });
    this.runId.resolve(id);
    const published = await this.jackdaw.events(id);
    this.outcomes.add('fork');
    if (published.at(-1)?.event === 'run.waiting') await this.abandon(id);
    return sessionId;
  }

  private async import(id: string, turns: NonNullable<Talk['imported']>): Promise<void> {
    const session = { id, owner: WHO.id, created_at: 1, updated_at: 1, metadata: {} };
    const named = turns.map((turn) => ({ ...turn, run_id: `${turn.run_id}-${id}` }));
    await this.get(SessionAdminService).import(WHO, { version: 1, session, turns: named });
  }

  private prepare(turn: PlannedTurn): void {
    this.turn = turn;
    this.replies = [...turn.replies];
    this.runId = Promise.withResolvers();
  }

  private async reply(request: FakeRequest): Promise<FakeReply> {
    const turn = this.turn!;
    const isSummary = String(request.messages[0]?.content).startsWith('You keep the memory');
    if (isSummary) return turn.summary === null ? { status: 400 } : { text: turn.summary };
    const reply = toFakeReply(this.replies.shift(), turn.agent.protocol);
    if ('hang' in reply) await this.stop();
    return reply;
  }

  /** The run of a hasty agent ends by itself. */
  private async stop(): Promise<void> {
    if (this.turn?.agent.isHasty) return;
    await this.get(RunService).cancel(WHO, await this.runId.promise);
  }

  private async start(): Promise<void> {
    const options = { agents: talkAgents() };
    const { llm, tools, env, dataDir } = this;
    this.jackdaw = await startJackdaw({ llm, tools: [tools], env, dataDir, options });
  }

  private get<T>(type: new (...args: never[]) => T): T {
    return this.jackdaw.app.get(type, { strict: false });
  }
}

function faultsOf({ messages }: FakeRequest): string[] {
  const faults = [
    ...openAiFaults(messages).map((fault) => `OpenAI: ${fault}`),
    ...anthropicFaults(messages).map((fault) => `Anthropic: ${fault}`),
  ];
  return faults.length === 0 ? [] : [...faults, JSON.stringify(messages)];
}

/** Ignores a missing session: it has no message yet, or it was deleted. */
async function unlessGone(done: Promise<void>): Promise<void> {
  await done.catch((error: unknown) => {
    if (!(error instanceof AppError) || !error.code.endsWith('NOT_FOUND')) throw error;
  });
}
