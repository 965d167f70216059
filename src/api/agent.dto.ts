/** The agent's model. */
export class AgentModelDto {
  provider!: string;
  name!: string;
  /** Parameters that the agent sets, such as `temperature`, `maxTokens` and `topP`. */
  parameters!: Record<string, unknown>;
}

/** The part of the session's history that a run receives. */
export class AgentMemoryDto {
  enabled!: boolean;
  policy!: string;
  max_messages!: number;
  max_context_tokens!: number;
}

/** Limits of a run. */
export class AgentLimitsDto {
  /** Maximum number of model calls in a run. */
  max_iterations!: number;
  /** Maximum duration of one execution of a run, in ms. */
  run_timeout_ms!: number;
  /** Maximum size of one tool result, in UTF-8 bytes; longer results are cut. */
  max_result_bytes!: number;
  /** Maximum depth of nested runs, where the agent's tools are agents. */
  max_depth!: number;
  /** Maximum number of tools that its model gets from the start; of more tools, some are deferred. */
  max_tools!: number;
  /** The same for the tokens of their names, descriptions and schemas. */
  max_tool_tokens!: number;
}

/** A declared MCP server, and whether its tools are enabled for the agent. */
export class AgentMcpServerDto {
  name!: string;
  enabled!: boolean;
}

/** Spending limits. */
export class AgentBudgetDto {
  tokens?: number | undefined;
  /** In the unit of `LLM_PRICES`. */
  cost?: number | undefined;
}

/** Spending limits of the agent, in addition to the limits of all agents. */
export class AgentBudgetsDto {
  /** Per run, including its child runs. */
  run?: AgentBudgetDto | undefined;
  /** Per session. */
  session?: AgentBudgetDto | undefined;
  /** Per tenant and day. */
  tenant_day?: AgentBudgetDto | undefined;
  /** Per day, over all runs of the agent. */
  day?: AgentBudgetDto | undefined;
}

/** An agent. The instructions are not published. */
export class AgentDto {
  name!: string;
  description!: string;
  /** Whether the agent handles requests that name no agent. */
  is_default!: boolean;
  model!: AgentModelDto;
  /** Tool protocol for its model: `native`, `react`, `xml`, or a protocol of the application. */
  protocol!: string;
  /** Tools offered to its model for the caller's tenant, without those that are agents. */
  tools!: string[];
  mcp_servers!: AgentMcpServerDto[];
  /** Agents that it can call. */
  sub_agents!: string[];
  /** Agents that it can hand the conversation over to. */
  handoffs!: string[];
  /** Skills that its model can read. */
  skills!: string[];
  /** JSON Schema of its answers, or `json` for any object; absent if its answers have no format. */
  response_format?: unknown;
  memory!: AgentMemoryDto;
  limits!: AgentLimitsDto;
  budgets?: AgentBudgetsDto;
  /** Restrictions in addition to the security policy: `tools`, `arguments`, `content` and `taint`, as in a policy. */
  guardrails?: unknown;
  /** Names of tools whose calls all need approval; `*` matches any characters. */
  approvals!: string[];
}

/** All agents. */
export class AgentListDto {
  agents!: AgentDto[];
}
