import { type DynamicModule, Inject, Module, type OnModuleInit, type Provider, type Type } from '@nestjs/common';
import { type AgentDefinitionInput, AgentRegistry } from './agent/definition/index.js';
import { type McpConfig, McpServerService } from './mcp/index.js';
import { type WorkflowInput, WorkflowRegistry } from './workflow/index.js';

/** Additions of an application's module to the Jackdaw module of the root. */
export interface JackdawFeatureOptions {
  /** Providers with `@Tool` methods: classes, which Nest instantiates, or objects. */
  readonly tools?: readonly (Type | object)[];
  /** Agents in addition to those of the root; the default agent does not change. */
  readonly agents?: readonly AgentDefinitionInput[];
  readonly mcpServers?: readonly McpConfig[];
  readonly workflows?: readonly WorkflowInput[];
}

const FEATURE = Symbol('FEATURE');

/** Adds agents, MCP servers and workflows. Tools are discovered among the providers. */
@Module({})
export class JackdawFeatureModule implements OnModuleInit {
  constructor(
    @Inject(FEATURE) private readonly feature: JackdawFeatureOptions,
    private readonly agents: AgentRegistry,
    private readonly servers: McpServerService,
    private readonly workflows: WorkflowRegistry,
  ) {}

  static with(feature: JackdawFeatureOptions): DynamicModule {
    const { tools = [] } = feature;
    return {
      module: JackdawFeatureModule,
      providers: [{ provide: FEATURE, useValue: feature }, ...tools.map(toProvider)],
      exports: tools.filter((tool) => typeof tool === 'function') as Type[],
    };
  }

  /** @throws AppError `AGENT_INVALID`, `MCP_SERVER_INVALID`, `MCP_SERVER_DUPLICATE`, `WORKFLOW_INVALID` */
  onModuleInit(): void {
    for (const [at, agent] of (this.feature.agents ?? []).entries()) {
      this.agents.register(agent, `forFeature: agents[${at}]`);
    }
    for (const [at, server] of (this.feature.mcpServers ?? []).entries()) {
      this.servers.declare(server, `forFeature: mcpServers[${at}]`);
    }
    for (const [at, workflow] of (this.feature.workflows ?? []).entries()) {
      this.workflows.register(workflow, `forFeature: workflows[${at}]`);
    }
  }
}

/** A provider for a class, which Nest instantiates, or for an object. */
export function toProvider(provider: Type | object): Provider {
  return typeof provider === 'function' ? (provider as Type) : { provide: Symbol('given'), useValue: provider };
}
