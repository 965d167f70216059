import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { AppError, messageOf } from '../common/index.js';
import { ProtocolRegistry } from '../reasoning/index.js';
import { MemoryPolicyRegistry } from '../session/index.js';
import { ToolRegistry } from '../tool/index.js';
import type { AgentDefinition } from './agent-definition.schema.js';
import { AgentModelFactory } from './agent-model.factory.js';
import { AgentRegistry } from './agent.registry.js';

/** Stops the boot when an agent names a model, a tool, a protocol or a memory policy that is not there. */
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
    const mistakes = this.agents.list().flatMap((definition) => this.mistakes(definition));
    if (mistakes.length > 0) throw new AppError('AGENT_INVALID', mistakes.join('\n'));
  }

  /** What a definition names that is not there, in words. */
  mistakes(definition: AgentDefinition): string[] {
    const checks = [
      () => this.models.create(definition),
      () => this.tools.select(definition.tools),
      () => this.protocols.get(definition.protocol),
      () => this.policies.get(definition.memory.policy),
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
}
