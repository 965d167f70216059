import type { AppOptions } from '../../src/app.module.js';
import { FakeLlm } from './fake-llm.js';
import type { FakeCall } from './fake-llm.types.js';
import { startJackdaw, type Jackdaw } from './jackdaw.js';
import { callOf, WaitingRun } from './waiting-run.js';
import { WaitingTools } from './waiting.tool.js';

type Agents = NonNullable<AppOptions['agents']>;

export const MODEL = { provider: 'openai' };
export const pay = (to: string, amount = 5): FakeCall => callOf('pay', { to, amount });
export const choose = (text: string): FakeCall => callOf('choose', { text });
export const look = (text: string): FakeCall => callOf('look', { text });

/** A server with tools that wait for people, and its model. */
export class WaitingHost {
  /** The session of the last run. */
  session = '';
  private count = 0;

  private constructor(
    readonly llm: FakeLlm,
    readonly tools: WaitingTools,
    readonly jackdaw: Jackdaw,
  ) {}

  /** @param more agents besides the default one */
  static async start(more: Agents = []): Promise<WaitingHost> {
    const llm = await FakeLlm.start();
    const tools = new WaitingTools();
    const agents = [{ name: 'default', model: MODEL }, ...more];
    return new WaitingHost(llm, tools, await startJackdaw({ llm, tools: [tools], options: { agents } }));
  }

  async stop(): Promise<void> {
    await this.jackdaw.stop();
    await this.llm.close();
  }

  reset(): void {
    this.llm.reset();
    this.tools.done.length = 0;
  }

  /** A waiting run: its model makes these calls, and finally answers "the end". */
  ask(...calls: FakeCall[]): Promise<WaitingRun> {
    return this.askAgent('default', ...calls);
  }

  askAgent(agent: string, ...calls: FakeCall[]): Promise<WaitingRun> {
    this.script(...calls);
    return WaitingRun.begin(this.jackdaw, this.session, { agent });
  }

  /** Scripts the next replies of the model, in a new session. */
  script(...calls: FakeCall[]): void {
    this.llm.reply({ text: 'I try.', calls }, { text: 'the end' });
    this.session = `session-${++this.count}`;
  }

  /** The result of a call in the last request to the model. */
  shown(callId: string): unknown {
    return this.llm.lastRequest.messages.find(({ tool_call_id }) => tool_call_id === callId)?.content;
  }
}
