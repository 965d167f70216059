/** The model that answers for an agent. */
export class AgentModelDto {
  provider!: string;
  name!: string;
  /** What the agent sets of `temperature`, `maxTokens`, `topP` and the like. */
  parameters!: Record<string, unknown>;
}

/** What of its session's past a run sees. */
export class AgentMemoryDto {
  enabled!: boolean;
  policy!: string;
  max_messages!: number;
  max_context_tokens!: number;
}

/** Where a run ends at the latest. */
export class AgentLimitsDto {
  /** Model calls a run may make. */
  max_iterations!: number;
  /** The longest one execution of a run may take, in ms. */
  run_timeout_ms!: number;
  /** UTF-8 bytes of one tool result that are kept. */
  max_result_bytes!: number;
  /** How many runs may be above one another where its tools are agents. */
  max_depth!: number;
}

/** A declared MCP server, and whether the agent has its tools or has none of them. */
export class AgentMcpServerDto {
  name!: string;
  enabled!: boolean;
}

/** The most that may be spent. */
export class AgentBudgetDto {
  tokens?: number | undefined;
  /** In the unit of `LLM_PRICES`. */
  cost?: number | undefined;
}

/** What it may spend, beside what all agents may. */
export class AgentBudgetsDto {
  /** A run, with the runs that it calls. */
  run?: AgentBudgetDto | undefined;
  /** Its runs in one session. */
  session?: AgentBudgetDto | undefined;
  /** Its runs for one tenant, in a day. */
  tenant_day?: AgentBudgetDto | undefined;
  /** All its runs, in a day. */
  day?: AgentBudgetDto | undefined;
}

/** An agent. What it is told to be like is nobody's but its author's: it is not here. */
export class AgentDto {
  name!: string;
  description!: string;
  /** Whether it answers requests that name none. */
  is_default!: boolean;
  model!: AgentModelDto;
  /** How tools are written for its model: `native`, `react`, `xml`, or one of the application's own. */
  protocol!: string;
  /** The tools that its model is shown for the tenant of who asks, but for those that are agents. */
  tools!: string[];
  mcp_servers!: AgentMcpServerDto[];
  /** Agents that it may ask. */
  sub_agents!: string[];
  /** Agents that it may hand the conversation over to. */
  handoffs!: string[];
  /** The JSON Schema of its answers, or `json` for any object, where they have a format. */
  response_format?: unknown;
  memory!: AgentMemoryDto;
  limits!: AgentLimitsDto;
  budgets?: AgentBudgetsDto;
  /** What it may not do, beside what the security policy says: `tools`, `arguments`, `content` and `taint` as in one. */
  guardrails?: unknown;
  /** Names of tools, with `*` for any characters, of which every call needs a person. */
  approvals!: string[];
}

/** All agents. */
export class AgentListDto {
  agents!: AgentDto[];
}
