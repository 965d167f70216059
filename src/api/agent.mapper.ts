import type { AgentDefinition } from '../agent/index.js';
import type { AgentBudgetsDto, AgentDto } from './agent.dto.js';

/** Facts about an agent that its definition does not contain. */
interface AgentPlace {
  readonly isDefault: boolean;
  readonly tools: readonly string[];
  /** Effective limits for its runs. */
  readonly memory: { readonly maxMessages: number; readonly maxContextTokens: number };
}

/** Converts a definition to its public form, without the instructions. */
export function toAgentView(definition: AgentDefinition, { isDefault, tools, memory: past }: AgentPlace): AgentDto {
  const { name, description, model, protocol, subAgents, handoffs, responseFormat, memory, limits } = definition;
  const { mcpServers, budgets, guardrails, approvals } = definition;
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
    },
    ...(budgets && { budgets: toBudgets(budgets) }),
    ...(guardrails && { guardrails }),
    approvals: [...approvals],
  };
}

function toBudgets({ tenantDay, ...budgets }: NonNullable<AgentDefinition['budgets']>): AgentBudgetsDto {
  return { ...budgets, ...(tenantDay && { tenant_day: tenantDay }) };
}
