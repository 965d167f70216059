import { Injectable, Optional } from '@nestjs/common';
import { AppError } from '../common/index.js';
import { AppConfig } from '../config/index.js';
import { McpRegistry } from '../mcp/index.js';
import type { AgentDefinition } from './agent-definition.schema.js';
import { AgentModelFactory } from './agent-model.factory.js';
import { isCosted, isPriced } from './allowed-model.policy.js';

/** What the configuration must have for an agent to be what its definition says. */
@Injectable()
export class AgentNeedService {
  constructor(
    private readonly models: AgentModelFactory,
    private readonly config: AppConfig,
    @Optional() private readonly servers?: McpRegistry,
  ) {}

  /** @throws AppError `CONFIG_INVALID` when its model cannot be made */
  assertModel(definition: AgentDefinition): void {
    this.models.create(definition);
  }

  /** That an MCP server is declared, unless it may be added later. @throws AppError `MCP_SERVER_NOT_FOUND` */
  assertServer(name: string): void {
    if (!this.config.mcp.isRestOpen) this.servers?.get(name);
  }

  /** That budgets of costs can be counted. @throws AppError `AGENT_INVALID` */
  assertPriced(definition: AgentDefinition): void {
    if (!isCosted(definition.budgets ?? {})) return;
    const { provider, name } = this.models.create(definition);
    if (isPriced({ model: `${provider}:${name}`, name }, this.config.llm.prices)) return;
    const what = `its budgets are of costs, and the model ${name} of ${provider} has none`;
    throw new AppError('AGENT_INVALID', `${what}: set its price (LLM_PRICES), or give tokens`);
  }
}
