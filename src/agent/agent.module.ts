import { Module, type DynamicModule } from '@nestjs/common';
import { AppConfig } from '../config/index.js';
import { ChatModel, LlmModule } from '../llm/index.js';
import { protocolFor, ReasoningModule, type ReasoningModuleOptions } from '../reasoning/index.js';
import { RunModule } from '../run/index.js';
import { SessionModule } from '../session/index.js';
import { ToolModule } from '../tool/index.js';
import { AgentCheckService } from './agent-check.service.js';
import type { AgentDefinition, AgentDefinitionInput } from './agent-definition.schema.js';
import { AgentDecisionService } from './agent-decision.service.js';
import { AgentForkService } from './agent-fork.service.js';
import { AgentMemory } from './agent-memory.service.js';
import { AgentModelFactory } from './agent-model.factory.js';
import { AgentHandler } from './agent.handler.js';
import { AgentRegistry } from './agent.registry.js';
import { AgentService } from './agent.service.js';
import { ForkDefinitionFactory } from './fork-definition.factory.js';
import { UserErasureService } from './user-erasure.service.js';
import { defaultAgent } from './default-agent.factory.js';

export interface AgentModuleOptions extends ReasoningModuleOptions {
  /** The agents there are; without any, the one that the environment describes. */
  readonly agents?: readonly AgentDefinitionInput[];
  /** What the agent of the environment has otherwise; of no use beside `agents`. */
  readonly agentChanges?: Partial<AgentDefinitionInput>;
  /** Takes the place of every provider. */
  readonly chatModel?: ChatModel;
}

@Module({})
export class AgentModule {
  static forRoot({ agents, agentChanges, chatModel, ...reasoning }: AgentModuleOptions = {}): DynamicModule {
    return {
      module: AgentModule,
      global: true,
      imports: [LlmModule, ToolModule, RunModule, SessionModule, ReasoningModule.forRoot(reasoning)],
      providers: [
        {
          provide: AgentRegistry,
          useFactory: (config: AppConfig, models: AgentModelFactory) =>
            toRegistry(agents ?? [{ ...defaultAgent(config), ...agentChanges }], models),
          inject: [AppConfig, AgentModelFactory],
        },
        ...(chatModel ? [{ provide: ChatModel, useValue: chatModel }] : []),
        AgentModelFactory,
        AgentMemory,
        AgentHandler,
        AgentCheckService,
        AgentService,
        AgentDecisionService,
        ForkDefinitionFactory,
        AgentForkService,
        UserErasureService,
      ],
      exports: [
        AgentRegistry,
        AgentService,
        AgentDecisionService,
        AgentForkService,
        AgentModelFactory,
        UserErasureService,
      ],
    };
  }
}

function toRegistry(agents: readonly AgentDefinitionInput[], models: AgentModelFactory): AgentRegistry {
  const registry = new AgentRegistry((definition) => resolve(definition, models.create(definition)));
  for (const agent of agents) registry.register(agent);
  return registry;
}

/** The definition with the name of the model that answers and the protocol that it speaks. */
function resolve(definition: AgentDefinition, { name, capabilities }: ChatModel): AgentDefinition {
  const { model, protocol } = definition;
  return {
    ...definition,
    model: { ...model, name: model.name ?? name },
    protocol: protocol === 'auto' ? protocolFor(capabilities) : protocol,
  };
}
