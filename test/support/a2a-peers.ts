import type { AppOptions } from '../../src/app.module.js';
import type { EnvRecord } from '../../src/config/index.js';
import { keyHolder, type KeyHolder } from './api-keys.js';
import { FakeLlm } from './fake-llm.js';
import { startJackdaw, type Jackdaw } from './jackdaw.js';
import { WaitingTools } from './waiting.tool.js';

const MODEL = { provider: 'openai' };

type Declaration = NonNullable<AppOptions['a2aAgents']>[number];

/** Two servers: an agent of the first one asks an agent of the second one. */
export class PeerWorld {
  /** The caller of the near server at the far one. */
  readonly caller: KeyHolder = keyHolder('near', 'acme', 'user');
  /** A person at the far server. */
  readonly person: KeyHolder = keyHolder('boss', 'acme', 'admin');
  readonly tools = new WaitingTools();
  private nearServer: Jackdaw | undefined;
  private farServer: Jackdaw | undefined;

  private constructor(
    readonly nearLlm: FakeLlm,
    readonly farLlm: FakeLlm,
  ) {}

  static async start(): Promise<PeerWorld> {
    const world = new PeerWorld(await FakeLlm.start(), await FakeLlm.start());
    world.farServer = await startJackdaw({
      llm: world.farLlm,
      tools: [world.tools],
      env: { API_KEYS: [world.caller, world.person].map(({ entry }) => entry).join(',') },
      options: { agents: [{ name: 'default', model: MODEL, description: 'Pays.' }] },
    });
    return world;
  }

  /** Starts the near server. */
  async open(declaration: Partial<Declaration> = {}, env: EnvRecord = {}, dataDir?: string): Promise<Jackdaw> {
    const agent: Declaration = {
      name: 'ask_far',
      description: 'Asks the agent that pays.',
      url: `${this.far.url}/a2a/default`,
      headers: this.caller.headers,
      ...declaration,
    };
    this.nearServer = await startJackdaw({
      llm: this.nearLlm,
      env: { OUTGOING_ALLOW: '127.0.0.0/8', A2A_POLL_MS: '100', TAINT_RULE: 'facts', ...env },
      options: { agents: [{ name: 'default', model: MODEL, tools: ['ask_far'] }], a2aAgents: [agent] },
      ...(dataDir !== undefined && { dataDir }),
    });
    return this.nearServer;
  }

  get far(): Jackdaw {
    return this.farServer!;
  }

  get near(): Jackdaw {
    return this.nearServer!;
  }

  /** The model of the near agent asks the far agent, then repeats its result. */
  asks(message: string): void {
    this.nearLlm.always(({ messages }) => {
      const last = messages.at(-1)!;
      if (last.role === 'tool') return { text: `Got: ${String(last.content)}` };
      return { calls: [{ id: 'c1', name: 'ask_far', arguments: { message } }] };
    });
  }

  /** The tasks of the far agent, newest first. */
  async tasks(): Promise<readonly string[]> {
    const { body } = await this.far.get('/api/runs', this.person.headers);
    return (body['runs'] as unknown as { run_id: string }[]).map(({ run_id: id }) => id);
  }

  /** Waits until a run has a status. */
  async until(server: Jackdaw, runId: string, status: string, headers = {}): Promise<Record<string, unknown>> {
    for (;;) {
      const { body } = await server.get(`/api/runs/${runId}`, headers);
      if ((body as { status?: string }).status === status) return body;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async closeNear(): Promise<void> {
    await this.nearServer?.stop();
    this.nearServer = undefined;
    this.nearLlm.reset();
    this.farLlm.reset();
    this.tools.done.splice(0);
  }

  async stop(): Promise<void> {
    await this.closeNear();
    await this.far.stop();
    await Promise.all([this.nearLlm.close(), this.farLlm.close()]);
  }
}
