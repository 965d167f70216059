import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { a2aConfig, type A2aConfig } from '../config/namespaces/index.js';
import { AppError, messageOf } from '../errors/index.js';
import { ModelBudget } from '../llm/budget/index.js';
import { OutgoingClient } from '../security/egress/index.js';
import { ToolRegistry } from '../tool/index.js';
import { createRemoteAgentTool } from './remote-agent-tool.factory.js';
import { parseRemoteAgent } from './remote-agent.schema.js';
import type { RemoteAgentDeclaration } from './remote-agent.types.js';
import type { RemoteCalls } from './remote-call.executor.js';
import { RemoteCardService } from './remote-card.service.js';

/** Remote agents declared in code; type and injection token. */
export abstract class DeclaredRemoteAgents {
  abstract readonly agents: readonly RemoteAgentDeclaration[];
}

/** Registers the remote agents of the file and of code as tools, without a request to them. */
@Injectable()
export class RemoteAgentRegistry implements OnModuleInit {
  private readonly calls = new Map<string, RemoteCalls>();

  constructor(
    @Inject(a2aConfig.KEY) private readonly config: A2aConfig,
    @Inject(DeclaredRemoteAgents) private readonly inCode: DeclaredRemoteAgents,
    private readonly tools: ToolRegistry,
    private readonly http: OutgoingClient,
    private readonly cards: RemoteCardService,
    private readonly budget: ModelBudget,
  ) {}

  /** @throws AppError `TOOL_INVALID` that lists all mistakes */
  onModuleInit(): void {
    const { path, declared: agents } = this.config.file;
    const declared = [
      ...Object.entries(agents).map(
        ([name, given]) => [withName(name, given), `${path}: ${JSON.stringify(name)}`] as const,
      ),
      ...this.inCode.agents.map((given, at) => [given, `a2aAgents[${at}]`] as const),
    ];
    const mistakes = declared.flatMap(([given, source]) => this.register(given, source));
    if (mistakes.length > 0) throw new AppError('TOOL_INVALID', mistakes.join('\n'));
  }

  /** Names of the tools. */
  get names(): ReadonlySet<string> {
    return new Set(this.calls.keys());
  }

  callsOf(tool: string): RemoteCalls | undefined {
    return this.calls.get(tool);
  }

  private register(given: unknown, source: string): string[] {
    const { http, cards, budget, config } = this;
    try {
      const { tool, calls } = createRemoteAgentTool(parseRemoteAgent(given, source), {
        http,
        cards,
        budget,
        pollMs: config.pollMs,
      });
      this.tools.register(tool);
      this.calls.set(tool.definition.name, calls);
      return [];
    } catch (error) {
      return [messageOf(error)];
    }
  }
}

function withName(name: string, given: unknown): unknown {
  return typeof given === 'object' && given !== null ? { ...given, name } : given;
}
