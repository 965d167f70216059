import { Injectable, Optional } from '@nestjs/common';
import { AppConfig } from '../config/index.js';
import { assertPriced, isCosted } from '../llm/index.js';
import { McpRegistry } from '../mcp/index.js';
import type { AgentDefinition } from './agent-definition.schema.js';
import { AgentModelFactory } from './agent-model.factory.js';

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

  /**
   * That each budget of cost can measure every model that counts in it: the agent's own, its fallback models, the model for
   * embeddings and, in its budget of a run, the models of the agents that it calls.
   * @throws AppError `CONFIG_INVALID` naming a model without a price
   */
  assertPriced(definition: AgentDefinition, called: readonly AgentDefinition[]): void {
    const { budgets = {} } = definition;
    const { prices, budget, provider, embeddingModel: name } = this.config.llm;
    if (!isCosted(budget) && !isCosted(budgets)) return;
    assertPriced([...this.models.namesOf(definition), ...(name === undefined ? [] : [{ provider, name }])], prices);
    if (budgets.run?.cost === undefined) return;
    for (const one of called) assertPriced(this.models.namesOf(one), prices);
  }
}
