import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { type AsyncOption, provided } from '../kernel/nest/index.js';
import { ConfiguredSecrets } from '../config/index.js';
import { agentConfig, type AgentConfig, llmConfig, type LlmConfig } from '../config/namespaces/index.js';
import { LlmModule } from '../llm/index.js';
import { Cassette, ConfiguredCassette } from '../llm/cassette/index.js';
import { ChatModel } from '../llm/chat/index.js';
import { protocolFor, ReasoningModule, type ReasoningModuleOptions } from '../reasoning/index.js';
import { RunModule } from '../run/index.js';
import { SessionModule } from '../session/index.js';
import { TelemetryModule } from '../telemetry/index.js';
import { RecordedTools, ToolModule } from '../tool/index.js';
import { ToolStateModule } from '../tool-state/index.js';
import { AgentSources } from './definition/agent-sources.registry.js';
import { AgentCheckService, AgentNeedService } from './definition/agent-check.service.js';
import type { AgentDefinition, AgentDefinitionInput } from './definition/agent-definition.schema.js';
import { AgentDecisionService } from './decision/agent-decision.service.js';
import { DecisionPermits } from './decision/decision-permits.service.js';
import { AgentForkService, ForkedRuns } from './agent-fork.service.js';
import { AgentMemory } from './agent-memory.service.js';
import { AgentModelFactory } from './agent-model.factory.js';
import { AgentHandler } from './agent.handler.js';
import { AgentRegistry } from './definition/agent.registry.js';
import { AgentRequestService } from './agent-request.service.js';
import { BudgetService } from './budget.service.js';
import { AgentService } from './agent.service.js';
import { DirectCallCheckService, DirectCallService } from './direct-call/direct-call.service.js';
import { DirectCallHandler } from './direct-call/direct-call.handler.js';
import { COPY_PLACES_PROVIDER, ErasureRemainsService } from './erasure-remains.service.js';
import { ForkDefinitionFactory } from './fork-definition.factory.js';
import { ModelParameterService } from './model-parameter.service.js';
import { ResolvedModelFactory } from './resolved-model.factory.js';
import { ChildRunFactory } from './sub-agent/child-run.factory.js';
import { OfferedTools, SubAgentTools } from './offered-tools.service.js';
import { RunDatasetService } from './history/run-dataset.service.js';
import { RunHistoryService } from './history/run-history.service.js';
import { RunSearchService } from './history/run-search.service.js';
import { SkillRegistry, toOffered } from './skills/skill.registry.js';
import { UserErasureService } from './user-erasure.service.js';
import { changedAgent, ENVIRONMENT, type DefaultAgentChanges } from './definition/default-agent.factory.js';

/** Options for the application's agents; type and injection token in one. */
export abstract class DeclaredAgents {
  /** The agents; without any, the one that the environment describes. */
  abstract readonly agents?: readonly AgentDefinitionInput[];
  /** Changes to the agent of the environment; ignored if `agents` is set. */
  abstract readonly agentChanges?: DefaultAgentChanges;
  /** Replaces every provider. */
  abstract readonly chatModel?: ChatModel;
  /** Answers the calls of all models of agents from a file, or records them; docs/testing.md. */
  abstract readonly cassette?: Cassette;
}

export interface AgentModuleOptions extends ReasoningModuleOptions, DeclaredAgents {}

const ERASURE = [COPY_PLACES_PROVIDER, ErasureRemainsService, UserErasureService];
const DIRECT_CALLS = [DirectCallCheckService, DirectCallHandler, DirectCallService];
const DEFINITIONS = [SkillRegistry, AgentSources, AgentNeedService, AgentCheckService];
const MODELS = [AgentModelFactory, ModelParameterService, ResolvedModelFactory];

/** Set by a cassette. */
const RECORDINGS = [RecordedTools, Cassette];

/** Reads of recorded runs. */
const HISTORY = [RunHistoryService, RunSearchService, RunDatasetService];

@Module({})
export class AgentModule {
  static forRoot(
    declared: DeclaredAgents | AsyncOption<DeclaredAgents> = {},
    reasoning: ReasoningModuleOptions = {},
  ): DynamicModule {
    const thinking = ReasoningModule.forRoot(reasoning);
    return {
      module: AgentModule,
      global: true,
      imports: [TelemetryModule, LlmModule, ToolModule, ToolStateModule, RunModule, SessionModule, thinking],
      providers: [
        ...declaredProviders(declared),
        ...MODELS,
        ...DEFINITIONS,
        AgentRequestService,
        AgentMemory,
        SubAgentTools,
        ChildRunFactory,
        OfferedTools,
        AgentHandler,
        ...HISTORY,
        AgentService,
        AgentDecisionService,
        DecisionPermits,
        ForkDefinitionFactory,
        AgentForkService,
        ForkedRuns,
        ...DIRECT_CALLS,
        ...ERASURE,
        BudgetService,
      ],
      exports: [
        thinking,
        ...RECORDINGS,
        AgentRegistry,
        SkillRegistry,
        AgentSources,
        AgentCheckService,
        ...HISTORY,
        AgentService,
        AgentDecisionService,
        AgentForkService,
        ForkedRuns,
        DirectCallService,
        AgentModelFactory,
        ResolvedModelFactory,
        UserErasureService,
        BudgetService,
      ],
    };
  }
}

function declaredProviders(declared: DeclaredAgents | AsyncOption<DeclaredAgents>): Provider[] {
  return [
    {
      provide: AgentRegistry,
      useFactory: (
        agent: AgentConfig,
        llm: LlmConfig,
        { agents, agentChanges }: DeclaredAgents,
        models: AgentModelFactory,
        resolved: ResolvedModelFactory,
        skills: SkillRegistry,
      ) =>
        toRegistry(agents ? inCode(agents) : [ofEnvironment(agent, llm, agentChanges)], { models, resolved, skills }),
      inject: [agentConfig.KEY, llmConfig.KEY, DeclaredAgents, AgentModelFactory, ResolvedModelFactory, SkillRegistry],
    },
    provided(DeclaredAgents, declared),
    {
      provide: ChatModel,
      useFactory: ({ chatModel }: DeclaredAgents) => chatModel ?? null,
      inject: [DeclaredAgents],
    },
    {
      provide: RecordedTools,
      useFactory: (cassette: Cassette | null, { values }: ConfiguredSecrets) =>
        cassette?.tools === 'recorded' ? new RecordedTools(cassette, values) : null,
      inject: [Cassette, ConfiguredSecrets],
    },
    {
      provide: Cassette,
      useFactory: ({ cassette }: DeclaredAgents, llm: LlmConfig, secrets: ConfiguredSecrets) =>
        cassette ?? ConfiguredCassette.of(llm, secrets),
      inject: [DeclaredAgents, llmConfig.KEY, ConfiguredSecrets],
    },
  ];
}

interface Resolvers {
  readonly models: AgentModelFactory;
  readonly resolved: ResolvedModelFactory;
  readonly skills: SkillRegistry;
}

type DeclaredAgent = readonly [agent: AgentDefinitionInput, source: string];

function inCode(agents: readonly AgentDefinitionInput[]): DeclaredAgent[] {
  return agents.map((agent, at) => [agent, `agents[${at}]`]);
}

function ofEnvironment(agent: AgentConfig, llm: LlmConfig, changes?: DefaultAgentChanges): DeclaredAgent {
  return [changedAgent(agent, llm, changes), ENVIRONMENT];
}

function toRegistry(agents: readonly DeclaredAgent[], resolvers: Resolvers): AgentRegistry {
  const registry = new AgentRegistry((definition) => resolve(definition, resolvers));
  for (const [agent, source] of agents) registry.register(agent, source);
  resolvers.skills.changes.add(() => registry.refresh());
  return registry;
}

/** Resolves the definition's model name, protocol, supported parameters and skills. */
function resolve(definition: AgentDefinition, { models, resolved, skills }: Resolvers): AgentDefinition {
  const { model, protocol, name } = definition;
  const whole = resolved.create(model, `Agent "${name}"`);
  const offered = skills.select(definition.skills).map(toOffered);
  return {
    ...definition,
    model: whole,
    protocol: protocol === 'auto' ? protocolFor(models.create({ model: whole }).capabilities) : protocol,
    ...(offered.length > 0 && { offeredSkills: offered }),
  };
}
