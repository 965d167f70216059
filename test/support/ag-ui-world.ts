import type { AgUiClient, ClientEvent, HttpAgent, Interrupt } from './ag-ui-clients.js';
import { FakeLlm } from './fake-llm.js';
import { startJackdaw, type Jackdaw } from './jackdaw.js';
import { WaitingTools } from './waiting.tool.js';

const model = { provider: 'openai' };

export const QUESTION = { id: 'q1', role: 'user', content: 'How is the weather in Oslo?' };
/** A tool of the client. */
export const WEATHER = {
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
/** Replies of the model with calls. */
export const ASKS = { text: 'I look.', calls: [{ id: 'c1', name: 'get_weather', arguments: { city: 'Oslo' } }] };
export const PAYS = { text: 'I pay.', calls: [{ id: 'c1', name: 'pay', arguments: { to: 'bob', amount: 5 } }] };
export const LOOKS = { calls: [{ id: 'l', name: 'look', arguments: { text: 'x' } }] };

/** A server with agents, and the events that a client of AG-UI receives. */
export class AgUiWorld {
  readonly tools = new WaitingTools();
  /** The events of the last run. */
  events: ClientEvent[] = [];

  private constructor(
    readonly llm: FakeLlm,
    private server: Jackdaw | null = null,
  ) {}

  static async start(): Promise<AgUiWorld> {
    const world = new AgUiWorld(await FakeLlm.start());
    world.server = await startJackdaw({
      llm: world.llm,
      tools: [world.tools],
      env: { LLM_TIMEOUT_MS: '1500' },
      options: {
        agents: [
          { name: 'default', model },
          { name: 'short', model, limits: { maxIterations: 1 } },
          { name: 'hasty', model, limits: { runTimeoutMs: 300 } },
          { name: 'formal', model, responseFormat: 'json' },
          { name: 'strict', model, waiting: { onDenied: 'end' } },
          { name: 'boss', model, subAgents: ['clerk', 'scout'] },
          { name: 'clerk', model, subAgents: ['scout'] },
          { name: 'scout', model },
        ],
      },
    });
    return world;
  }

  get jackdaw(): Jackdaw {
    if (!this.server) throw new Error('The server is not started.');
    return this.server;
  }

  reset(): void {
    this.llm.reset();
    this.tools.done.splice(0);
    this.events = [];
  }

  async stop(): Promise<void> {
    await this.jackdaw.stop();
    await this.llm.close();
  }

  /** A client with its own thread. */
  open({ HttpAgent }: AgUiClient, messages: readonly object[] = [QUESTION], agent = 'default'): HttpAgent {
    return new HttpAgent({ url: `${this.jackdaw.url}/ag-ui/${agent}`, initialMessages: messages });
  }

  /** Runs an agent; each event must be valid for the client. */
  async run({ EventSchemas }: AgUiClient, agent: HttpAgent, parameters: object = {}) {
    this.events = [];
    const answer = await agent.runAgent(parameters, { onEvent: ({ event }) => void this.events.push(event) });
    for (const event of this.events) EventSchemas.parse(event);
    return answer;
  }

  /** The types of the events, without `CUSTOM`. */
  get types(): string[] {
    return this.events.map(({ type }) => type).filter((type) => type !== 'CUSTOM');
  }

  find(type: string): ClientEvent | undefined {
    return this.events.find((event) => event.type === type);
  }

  /** The value of a `CUSTOM` event of ours. */
  custom(name: string): unknown {
    return this.events.find((event) => event['name'] === `jackdaw.${name}`)?.['value'];
  }

  /** Our id of the last run. */
  get runId(): string {
    return (this.custom('run') as { run_id: string }).run_id;
  }

  get outcome(): { readonly type: string; readonly interrupts?: readonly Interrupt[] } | undefined {
    return this.find('RUN_FINISHED')?.['outcome'] as AgUiWorld['outcome'];
  }

  /** The last run in the list of the server. */
  async listed(): Promise<Record<string, unknown>> {
    const { body } = await this.jackdaw.get('/api/runs?limit=1');
    const [run] = body['runs'] as unknown as Record<string, unknown>[];
    return run!;
  }
}

/** The parameters of a run that answers an interrupt. */
export function resolved({ id }: Interrupt, payload: unknown) {
  return { resume: [{ interruptId: id, status: 'resolved', payload }] };
}
