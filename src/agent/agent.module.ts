import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { AppError, type Later, provided } from '../common/index.js';
import { AppConfig } from '../config/index.js';
import { ChatModel, LlmModule } from '../llm/index.js';
import { protocolFor, ReasoningModule, type ReasoningModuleOptions } from '../reasoning/index.js';
import { RunModule } from '../run/index.js';
import { SessionModule } from '../session/index.js';
import { ToolModule, ToolStateModule } from '../tool/index.js';
import { AgentCheckService } from './agent-check.service.js';
import type { AgentDefinition, AgentDefinitionInput } from './agent-definition.schema.js';
import { AgentDecisionService } from './agent-decision.service.js';
import { AgentForkService } from './agent-fork.service.js';
import { AgentMemory } from './agent-memory.service.js';
import { AgentModelFactory } from './agent-model.factory.js';
import { AgentHandler } from './agent.handler.js';
import { AgentRegistry } from './agent.registry.js';
import { AgentRequestService } from './agent-request.service.js';
import { BudgetRebuildService } from './budget-rebuild.service.js';
import { AgentService } from './agent.service.js';
import { DirectCallCheckService } from './direct-call/direct-call-check.service.js';
import { DirectCallHandler } from './direct-call/direct-call.handler.js';
import { DirectCallService } from './direct-call/direct-call.service.js';
import { ForkedRuns } from './forked-runs.service.js';
import { ForkDefinitionFactory } from './fork-definition.factory.js';
import { ModelParameterService } from './model-parameter.service.js';
import { ChildRunFactory } from './sub-agent/child-run.factory.js';
import { SubAgentTools } from './sub-agent/sub-agent-tools.service.js';
import { OfferedTools } from './offered-tools.service.js';
import { UserErasureService } from './user-erasure.service.js';
import { changedAgent, type DefaultAgentChanges } from './default-agent.factory.js';

/** The agents of an application: type and token in one. */
export abstract class DeclaredAgents {
  /** The agents there are; without any, the one that the environment describes. */
  abstract readonly agents?: readonly AgentDefinitionInput[];
  /** What the agent of the environment has otherwise; of no use beside `agents`. */
  abstract readonly agentChanges?: DefaultAgentChanges;
  /** Takes the place of every provider. */
  abstract readonly chatModel?: ChatModel;
}

export interface AgentModuleOptions extends ReasoningModuleOptions, DeclaredAgents {}

@Module({})
export class AgentModule {
  static forRoot(
    declared: DeclaredAgents | Later<DeclaredAgents> = {},
    reasoning: ReasoningModuleOptions = {},
  ): DynamicModule {
    const thinking = ReasoningModule.forRoot(reasoning);
    return {
      module: AgentModule,
      global: true,
      imports: [LlmModule, ToolModule, ToolStateModule, RunModule, SessionModule, thinking],
      providers: [
        ...declaredProviders(declared),
        AgentModelFactory,
        ModelParameterService,
        AgentRequestService,
        AgentMemory,
        SubAgentTools,
        ChildRunFactory,
        OfferedTools,
        AgentHandler,
        AgentCheckService,
        AgentService,
        AgentDecisionService,
        ForkDefinitionFactory,
        AgentForkService,
        ForkedRuns,
        DirectCallCheckService,
        DirectCallHandler,
        DirectCallService,
        UserErasureService,
        BudgetRebuildService,
      ],
      exports: [
        thinking,
        AgentRegistry,
        AgentCheckService,
        AgentService,
        AgentDecisionService,
        AgentForkService,
        DirectCallService,
        AgentModelFactory,
        UserErasureService,
        BudgetRebuildService,
      ],
    };
  }
}

function declaredProviders(declared: DeclaredAgents | Later<DeclaredAgents>): Provider[] {
  return [
    {
      provide: AgentRegistry,
      useFactory: (
        config: AppConfig,
        { agents, agentChanges }: DeclaredAgents,
        models: AgentModelFactory,
        parameters: ModelParameterService,
      ) => toRegistry(agents ?? [changedAgent(config, agentChanges)], { models, parameters }),
      inject: [AppConfig, DeclaredAgents, AgentModelFactory, ModelParameterService],
    },
    provided(DeclaredAgents, declared),
    {
      provide: ChatModel,
      useFactory: ({ chatModel }: DeclaredAgents) => chatModel ?? null,
      inject: [DeclaredAgents],
    },
  ];
}

interface Resolvers {
  readonly models: AgentModelFactory;
  readonly parameters: ModelParameterService;
}

function toRegistry(agents: readonly AgentDefinitionInput[], resolvers: Resolvers): AgentRegistry {
  const registry = new AgentRegistry((definition) => resolve(definition, resolvers));
  for (const agent of agents) registry.register(agent);
  return registry;
}

/** The definition with the name of the model that answers, the protocol that it speaks, and the parameters that it takes. */
function resolve(definition: AgentDefinition, { models, parameters }: Resolvers): AgentDefinition {
  const { model, protocol, name } = definition;
  const made = models.create(definition);
  const { taken, faults } = parameters.fit(made, model.parameters);
  if (faults.length > 0) {
    const what = faults.map(({ message }) => message).join(', ');
    const todo = 'leave it out (LLM_…), choose another model, or set LLM_UNSUPPORTED_PARAMETERS=drop';
    throw new AppError('AGENT_INVALID', `Agent "${name}": ${what}: ${todo}.`);
  }
  return {
    ...definition,
    model: { ...model, name: model.name ?? made.name, parameters: taken },
    protocol: protocol === 'auto' ? protocolFor(made.capabilities) : protocol,
  };
}
