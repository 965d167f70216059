import { Controller, Get, Param } from '@nestjs/common';
import { AgentModelFactory, selectionOf } from '../agent/index.js';
import { type AgentDefinition, AgentRegistry } from '../agent/definition/index.js';
import type { Principal } from '../kernel/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { ToolSwitchService } from '../tool-policy/index.js';
import { ToolRegistry } from '../tool/index.js';
import { type AgentBudgetsDto, AgentDto, AgentListDto } from './agent.dto.js';
import { NamePipe } from './name.pipe.js';

/** Facts about an agent that its definition does not contain. */
interface AgentPlace {
  readonly isDefault: boolean;
  readonly tools: readonly string[];
  /** Effective limits for its runs. */
  readonly memory: { readonly maxMessages: number; readonly maxContextTokens: number };
}

/** Converts a definition to its public form, without the instructions. */
function toAgentView(definition: AgentDefinition, { isDefault, tools, memory: past }: AgentPlace): AgentDto {
  const { name, description, model, protocol, subAgents, handoffs, responseFormat, memory, limits } = definition;
  const { mcpServers, budgets, guardrails, approvals, offeredSkills = [] } = definition;
  return {
    name,
    description,
    is_default: isDefault,
    model: { provider: model.provider, name: model.name ?? '', parameters: { ...model.parameters } },
    protocol,
    tools: [...tools],
    mcp_servers: mcpServers.map((server) => ({ ...server })),
    sub_agents: [...subAgents],
    handoffs: [...handoffs],
    skills: offeredSkills.map((skill) => skill.name),
    ...(responseFormat && { response_format: responseFormat === 'json' ? 'json' : responseFormat.schema }),
    memory: {
      enabled: memory.enabled,
      policy: memory.policy,
      max_messages: past.maxMessages,
      max_context_tokens: past.maxContextTokens,
    },
    limits: {
      max_iterations: limits.maxIterations,
      run_timeout_ms: limits.runTimeoutMs,
      max_result_bytes: limits.maxResultBytes,
      max_depth: limits.maxDepth,
      max_tools: limits.maxTools,
      max_tool_tokens: limits.maxToolTokens,
    },
    ...(budgets && { budgets: toBudgets(budgets) }),
    ...(guardrails && { guardrails }),
    approvals: [...approvals],
  };
}

function toBudgets({ tenantDay, ...budgets }: NonNullable<AgentDefinition['budgets']>): AgentBudgetsDto {
  return { ...budgets, ...(tenantDay && { tenant_day: tenantDay }) };
}

@Requires('tools:read')
@Controller('agents')
export class AgentController {
  constructor(
    private readonly agents: AgentRegistry,
    private readonly tools: ToolRegistry,
    private readonly switches: ToolSwitchService,
    private readonly models: AgentModelFactory,
  ) {}

  /** All agents, the default agent first. A request selects an agent by `agent`. */
  @Get()
  async list(@CurrentPrincipal() { tenant }: Principal): Promise<AgentListDto> {
    const off = await this.switches.disabled(tenant);
    return { agents: this.agents.list().map((definition) => this.view(definition, off)) };
  }

  /** One agent. */
  @Get(':name')
  async get(@CurrentPrincipal() { tenant }: Principal, @Param('name', NamePipe) name: string): Promise<AgentDto> {
    return this.view(this.agents.get(name).definition, await this.switches.disabled(tenant));
  }

  private view(definition: AgentDefinition, off: ReadonlySet<string>): AgentDto {
    const names = this.tools.available(selectionOf(definition)).map((tool) => tool.definition.name);
    return toAgentView(definition, {
      isDefault: this.agents.names()[0] === definition.name,
      tools: names.filter((name) => !off.has(name)),
      memory: this.models.memoryRules(definition),
    });
  }
}
