import { newId } from '../../src/kernel/index.js';
import { FakeLlm } from './fake-llm.js';
import type { FakeMessage, FakeReply, FakeRequest } from './fake-llm.types.js';
import { newFolder, startJackdaw, type Jackdaw } from './jackdaw.js';
import { PictureTools } from './picture.tool.js';
import { strictProviderOf, type Move, type ProviderSession } from './provider-session-plan.js';
import { nameOf, talkAgents, type PlannedReply, type PlannedTurn, type Talk, type TalkEvent } from './talk-plan.js';
import { toFakeReply } from './talk-reply.js';
import { TalkTools } from './talk.tool.js';
import { WildTools } from './wild.tool.js';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const GIF = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
const IMAGES = {
  png: `data:image/png;base64,${PNG}`,
  url: 'https://example.com/a.png',
  mislabelled: `data:image/jpeg;base64,${PNG}`,
  gif: `data:image/gif;base64,${GIF}`,
};

/** A server with a model of every strict provider; it plays planned sessions over HTTP. */
export class ProviderWorld {
  /** The outcomes of turns. */
  readonly outcomes = new Set<string>();
  private readonly tools = new TalkTools();
  private readonly stopping = new Set<Promise<void>>();
  private replies: PlannedReply[] = [];
  private turn: PlannedTurn | null = null;
  private move: Move | null = null;

  private constructor(
    private readonly llm: FakeLlm,
    private readonly dataDir: string,
    private jackdaw: Jackdaw,
  ) {}

  static async open(): Promise<ProviderWorld> {
    const strict = ({ model }: FakeRequest) => strictProviderOf(model);
    const llm = await FakeLlm.start({ strict });
    const world = new ProviderWorld(llm, newFolder(), undefined as unknown as Jackdaw);
    llm.always((request) => world.reply(request));
    world.tools.onHang = () => world.stop();
    await world.start();
    return world;
  }

  async close(): Promise<void> {
    await this.jackdaw.stop();
    await this.llm.close();
  }

  /** Plays a session. @returns the broken rules, each with its first request */
  async play({ talk, moves }: ProviderSession): Promise<Map<string, FakeRequest>> {
    this.llm.broken.length = this.llm.requests.length = this.llm.envelopes.length = 0;
    let session = newId();
    if (talk.imported) await this.import(session, talk.imported);
    for (const [at, event] of talk.events.entries()) {
      this.move = moves[at % moves.length]!;
      session = await this.happen(event, session);
    }
    const broken = new Map<string, FakeRequest>();
    for (const { rule, request } of this.llm.broken) if (!broken.has(rule)) broken.set(rule, request);
    return broken;
  }

  private async happen(event: TalkEvent, session: string): Promise<string> {
    switch (event.kind) {
      case 'turn':
        await this.ask(event, session);
        return session;
      case 'fork':
        return this.fork(event.turn, session);
      case 'pin':
        await this.jackdaw.send(`/api/sessions/${session}/turns/${event.turn}/pin`, { method: 'PUT' });
        return session;
      case 'clear':
        await this.jackdaw.send(`/api/sessions/${session}/messages`, { method: 'DELETE' });
        return session;
      case 'restart':
        await this.jackdaw.stop();
        await this.start();
        return session;
    }
  }

  private async ask(turn: PlannedTurn, sessionId: string): Promise<void> {
    this.prepare(turn);
    const body = this.body(turn, sessionId);
    const waiting = await (this.move!.isStreamed ? this.askStream(body) : this.askWhole(body));
    if (waiting !== undefined) await this.cancel(waiting);
    await Promise.all(this.stopping);
  }

  private body({ query, references, agent }: PlannedTurn, sessionId: string): object {
    const { model, images, parameters, toolChoice, tail } = this.move!;
    const given = model.vision ? images.map((kind) => ({ url: IMAGES[kind] })) : [];
    return {
      query: query + tail,
      sessionId,
      references,
      agent: nameOf(agent),
      model: `${model.provider}:${model.model}`,
      // A caller who sets a parameter knows the model of a deployment.
      parameters: model.provider === 'azure' ? {} : parameters,
      ...(toolChoice && { toolChoice }),
      ...(given.length > 0 && { images: given }),
    };
  }

  /** @returns the id of a run that waits */
  private async askStream(body: object): Promise<string | undefined> {
    const stream = await this.jackdaw.stream(body);
    const last = (await stream.all()).at(-1);
    this.outcomes.add(last?.event ?? String(stream.status));
    return last?.event === 'run.waiting' ? stream.runId : undefined;
  }

  private async askWhole(body: object): Promise<string | undefined> {
    const { body: answer } = await this.jackdaw.chat(body);
    this.outcomes.add(String(answer['code'] ?? answer['finish_reason'] ?? answer['status']));
    return answer['status'] === 'waiting' ? answer['run_id'] : undefined;
  }

  /** Cancels a run, and waits for its end. */
  private async cancel(runId: string): Promise<void> {
    await this.jackdaw.post(`/api/runs/${runId}/cancel`);
    await this.jackdaw.events(runId);
  }

  /** Forks the last run of the session, with another question to another model. */
  private async fork(turn: PlannedTurn, session: string): Promise<string> {
    const { body: page } = await this.jackdaw.get(`/api/runs?sessionId=${session}&limit=1`);
    const [last] = page['runs'] as unknown as { run_id: string }[];
    if (!last) return session;
    this.prepare(turn);
    const sessionId = newId();
    const { provider, model: name } = this.move!.model;
    const edit = { message: turn.query, agent: nameOf(turn.agent), model: { provider, name } };
    const { status, body } = await this.jackdaw.post(`/api/runs/${last.run_id}/fork`, {
      fromStep: 'model:1',
      sessionId,
      edit,
    });
    if (status >= 400) return session;
    const forkId = String(body['run_id']);
    const events = await this.jackdaw.events(forkId);
    this.outcomes.add('fork');
    if (events.at(-1)?.event === 'run.waiting') await this.cancel(forkId);
    await Promise.all(this.stopping);
    return sessionId;
  }

  private async import(id: string, turns: NonNullable<Talk['imported']>): Promise<void> {
    const session = { id, owner: 'local', created_at: 1, updated_at: 1, metadata: {} };
    const named = turns.map((turn) => ({ ...turn, run_id: `${turn.run_id}-${id}` }));
    const { status } = await this.jackdaw.post('/api/sessions/import', {
      session: { version: 1, session, turns: named },
    });
    this.outcomes.add(`import ${status}`);
  }

  private prepare(turn: PlannedTurn): void {
    this.turn = turn;
    this.replies = [...turn.replies];
  }

  private reply({ messages, system }: FakeRequest): FakeReply {
    const turn = this.turn!;
    const [first] = messages;
    const isSummary = [first?.content, system].some((text) => String(text).startsWith('You keep the memory'));
    if (isSummary) return turn.summary === null ? { status: 400 } : { text: turn.summary };
    const reply = toFakeReply(this.replies.shift(), turn.agent.protocol);
    if ('hang' in reply) this.stop();
    return 'status' in reply || 'hang' in reply ? reply : this.dressed(reply);
  }

  /** Adds the reasoning and signatures that the provider's models write. */
  private dressed(reply: FakeMessage): FakeMessage {
    const { hasReasoning, tail, model } = this.move!;
    const [first, ...rest] = reply.calls ?? [];
    return {
      ...reply,
      ...(reply.text !== undefined && reply.finishReason === undefined && { text: reply.text + tail }),
      ...(hasReasoning && { reasoning: `I think.${tail}` }),
      ...(first && { calls: [{ ...first, ...(model.strict === 'gemini' && { signature: 'SIG==' }) }, ...rest] }),
    };
  }

  /** Cancels the running runs. The run of a hasty agent ends by itself. */
  private stop(): void {
    if (this.turn?.agent.isHasty) return;
    const done = this.cancelRunning().finally(() => this.stopping.delete(done));
    this.stopping.add(done);
  }

  private async cancelRunning(): Promise<void> {
    const { body } = await this.jackdaw.get('/api/runs?status=running');
    const runs = body['runs'] as unknown as { run_id: string }[];
    await Promise.all(runs.map(({ run_id }) => this.jackdaw.post(`/api/runs/${run_id}/cancel`)));
  }

  private async start(): Promise<void> {
    const { llm, dataDir } = this;
    this.jackdaw = await startJackdaw({
      tools: [this.tools, new WildTools(), new PictureTools()],
      dataDir,
      options: { agents: talkAgents() },
      env: strictModelEnv(llm),
    });
  }
}

/** The variables that point every provider of the strict models at a fake. */
export function strictModelEnv(llm: FakeLlm): Record<string, string> {
  const { url } = llm;
  return {
    ...llm.envOf('openai-compatible'),
    LLM_MODEL: 'mistral-small',
    OPENAI_API_KEY: 'test',
    OPENAI_BASE_URL: url,
    ANTHROPIC_API_KEY: 'test',
    ANTHROPIC_BASE_URL: url,
    AZURE_OPENAI_API_KEY: 'test',
    AZURE_OPENAI_ENDPOINT: url,
    DEEPSEEK_API_KEY: 'test',
    DEEPSEEK_BASE_URL: url,
    GLM_API_KEY: 'test',
    GLM_BASE_URL: url,
    OLLAMA_BASE_URL: url,
  };
}
