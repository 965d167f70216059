import { Extension, createAgent, type Agent, type CreateAgentOptions, type ExtensionHost } from '../../src/index.js';
import { rmSync } from 'node:fs';
import { newFolder } from './jackdaw.js';
import { ScriptedChatModel, type Scripted } from './scripted-chat-model.js';

/** Agents of one test file, each on a folder of its own. */
export class AgentHost {
  private readonly folders: string[] = [];
  private readonly agents: Agent[] = [];

  environment(): { DATA_DIR: string; LLM_PROVIDER: string } {
    const folder = newFolder();
    this.folders.push(folder);
    return { DATA_DIR: folder, LLM_PROVIDER: 'offline' };
  }

  async start(options: CreateAgentOptions, script?: readonly Scripted[]): Promise<Agent> {
    const chatModel = script && new ScriptedChatModel(script);
    const agent = await createAgent({ config: this.environment(), ...(chatModel && { chatModel }), ...options });
    this.agents.push(agent);
    return agent;
  }

  async stop(): Promise<void> {
    for (const agent of this.agents.splice(0)) await agent.close();
    for (const folder of this.folders.splice(0)) rmSync(folder, { recursive: true });
  }
}

/** An extension that records the calls of its lifecycle methods. */
export class NotingExtension extends Extension {
  readonly version: string = '1.0.0';

  constructor(
    readonly name: string,
    override readonly dependencies: readonly string[],
    private readonly notes: string[],
  ) {
    super();
  }

  override async register(_agent: ExtensionHost): Promise<void> {
    await Promise.resolve();
    this.notes.push(`register ${this.name}`);
  }

  override async boot(): Promise<void> {
    await Promise.resolve();
    this.notes.push(`boot ${this.name}`);
  }

  onApplicationShutdown(): void {
    this.notes.push(`end ${this.name}`);
  }
}
