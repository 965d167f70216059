import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { AppError, messageOf } from '../common/index.js';
import { ProtocolRegistry } from '../reasoning/index.js';
import { MemoryPolicyRegistry } from '../session/index.js';
import { ToolRegistry } from '../tool/index.js';
import type { AgentDefinition } from './agent-definition.schema.js';
import { AgentModelFactory } from './agent-model.factory.js';
import { AgentRegistry } from './agent.registry.js';
import { askName, transferName } from './sub-agent/sub-agent-tool.factory.js';

/** What every provider takes. */
const MAX_TOOL_NAME = 64;

/** Stops the boot when an agent names a model, a tool, another agent, a protocol or a memory policy that is not there. */
@Injectable()
export class AgentCheckService implements OnApplicationBootstrap {
  constructor(
    private readonly agents: AgentRegistry,
    private readonly tools: ToolRegistry,
    private readonly models: AgentModelFactory,
    private readonly protocols: ProtocolRegistry,
    private readonly policies: MemoryPolicyRegistry,
  ) {}

  /** Not before every module has begun: the tools of an application are registered then. */
  onApplicationBootstrap(): void {
    this.check(this.agents.names());
  }

  /** @throws AppError `AGENT_INVALID` with every mistake of these agents; what one of them alone cannot be made for, as it is */
  check(names: readonly string[]): void {
    const mistakes = names.flatMap((name) => this.mistakes(this.agents.get(name).definition));
    if (mistakes.length > 0) throw new AppError('AGENT_INVALID', mistakes.join('\n'));
  }

  /** What a definition names that is not there, in words. */
  mistakes(definition: AgentDefinition): string[] {
    const checks = [
      () => this.models.create(definition),
      () => this.tools.select(definition.tools),
      () => this.protocols.get(definition.protocol),
      () => this.policies.get(definition.memory.policy),
      ...definition.subAgents.map((name) => () => this.assertSubAgent(definition, name, askName(name))),
      ...definition.handoffs.map((name) => () => this.assertSubAgent(definition, name, transferName(name))),
    ];
    return checks.flatMap((check) => {
      try {
        check();
        return [];
      } catch (error) {
        return [`Agent "${definition.name}": ${messageOf(error)}`];
      }
    });
  }

  /** That the agent is there, and that its tool is the only one of its name. */
  private assertSubAgent({ tools }: AgentDefinition, agent: string, tool: string): void {
    this.agents.get(agent);
    if (tool.length > MAX_TOOL_NAME) {
      throw new AppError(
        'AGENT_INVALID',
        `its tool "${tool}" would have a name of more than ${MAX_TOOL_NAME} characters`,
      );
    }
    const other = this.tools.available(tools).find(({ definition }) => definition.name === tool);
    if (!other) return;
    const where = other.metadata.source;
    throw new AppError('AGENT_INVALID', `it has a tool "${tool}" (${where}) beside the agent "${agent}": rename one`);
  }
}
