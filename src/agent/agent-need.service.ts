import { Inject, Injectable } from '@nestjs/common';
import { llmConfig, type LlmConfig, mcpConfig, type McpClientConfig } from '../config/index.js';
import { assertPriced, isCosted } from '../llm/index.js';
import { McpRegistry } from '../mcp/index.js';
import type { AgentDefinition } from './agent-definition.schema.js';
import { AgentModelFactory } from './agent-model.factory.js';
import { SkillRegistry } from './skills/skill.registry.js';

/** Checks that the configuration has the resources that an agent's definition requires. */
@Injectable()
export class AgentNeedService {
  constructor(
    private readonly models: AgentModelFactory,
    @Inject(llmConfig.KEY) private readonly config: LlmConfig,
    @Inject(mcpConfig.KEY) private readonly mcp: McpClientConfig,
    private readonly servers: McpRegistry,
    private readonly skills: SkillRegistry,
  ) {}

  /** @throws AppError `CONFIG_INVALID` when its model cannot be created */
  assertModel(definition: AgentDefinition): void {
    this.models.create(definition);
  }

  /** Checks that an MCP server is declared, unless REST can add servers. @throws AppError `MCP_SERVER_NOT_FOUND` */
  assertServer(name: string): void {
    if (!this.mcp.isRestOpen) this.servers.get(name);
  }

  /** @throws AppError `AGENT_INVALID` for the name of a skill that does not exist */
  assertSkill(name: string): void {
    this.skills.assertKnown(name);
  }

  /**
   * Checks that every model counted in a cost budget has a price: the agent's own, its fallback models, the embedding
   * model and, for a run budget, the models of the agents that it calls.
   * @throws AppError `CONFIG_INVALID` naming a model without a price
   */
  assertPriced(definition: AgentDefinition, called: readonly AgentDefinition[]): void {
    const { budgets = {} } = definition;
    const { budget, provider, embeddingModel: name } = this.config;
    if (!isCosted(budget) && !isCosted(budgets)) return;
    assertPriced(
      [...this.models.namesOf(definition), ...(name === undefined ? [] : [{ provider, name }])],
      this.config,
    );
    if (budgets.run?.cost === undefined) return;
    for (const one of called) assertPriced(this.models.namesOf(one), this.config);
  }
}
