import { AgentSources } from './agent-sources.registry.js';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { llmConfig, type LlmConfig, type McpClientConfig, mcpConfig } from '../../config/namespaces/index.js';
import { AppError, messageOf } from '../../errors/index.js';
import { assertPriced, isCosted } from '../../llm/models/index.js';
import { McpRegistry } from '../../mcp/index.js';
import { assertScriptPackages, ProtocolRegistry } from '../../reasoning/index.js';
import { MemoryPolicyRegistry } from '../../session/memory/index.js';
import { ToolRegistry } from '../../tool/index.js';
import type { AgentDefinition } from './agent-definition.schema.js';
import { AgentModelFactory } from '../agent-model.factory.js';
import { AgentRegistry, unknownAgent } from './agent.registry.js';
import { selectionOf } from '../offered-tools.service.js';
import { SkillRegistry } from '../skills/skill.registry.js';
import { READ_SKILL } from '../skills/skill-tool.factory.js';
import { askName, transferName } from '../sub-agent/sub-agent-tool.factory.js';

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

/** A reference in a definition that cannot be resolved. */
export interface AgentFault {
  /** Path in the definition. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

interface SubAgent {
  readonly name: string;
  /** Name of its tool. */
  readonly tool: string;
  /** Names of the known agents. */
  readonly names: readonly string[];
}

type Check = readonly [path: AgentFault['path'], check: () => unknown];

/**
 * Fails the boot when an agent names a missing model, tool, MCP server, agent, skill, protocol or memory policy. With a cost
 * budget, every counted model also needs a price.
 */
@Injectable()
export class AgentCheckService implements OnApplicationBootstrap {
  constructor(
    private readonly agents: AgentRegistry,
    private readonly tools: ToolRegistry,
    private readonly needs: AgentNeedService,
    private readonly protocols: ProtocolRegistry,
    private readonly policies: MemoryPolicyRegistry,
    private readonly sources: AgentSources,
  ) {}

  /** Runs after all modules have initialised, because the application's tools are registered by then. */
  async onApplicationBootstrap(): Promise<void> {
    await this.sources.load();
    this.check(this.agents.names());
    if (this.agents.names().some((name) => this.agents.get(name).definition.codeMode)) await assertScriptPackages();
  }

  /**
   * @throws AppError `AGENT_INVALID` with all faults of these agents; rethrows the error of an agent whose definition
   *   cannot be resolved
   */
  check(names: readonly string[]): void {
    const mistakes = names.flatMap((name) => this.mistakes(this.agents.get(name).definition));
    if (mistakes.length > 0) throw new AppError('AGENT_INVALID', mistakes.join('\n'));
  }

  /** Messages for all unresolved references of a definition. */
  mistakes(definition: AgentDefinition): string[] {
    return this.faults(definition).map(({ message }) => `Agent "${definition.name}": ${message}`);
  }

  /**
   * Unresolved references with their paths in the definition.
   * @param names agents that it may call; by default all registered agents
   */
  faults(definition: AgentDefinition, names: readonly string[] = this.agents.names()): AgentFault[] {
    const { tools, mcpServers, protocol, memory, subAgents, handoffs } = definition;
    const checks: Check[] = [
      [['model'], () => this.needs.assertModel(definition)],
      ...(tools === '*' ? [] : tools).map((name, at): Check => [['tools', at], () => this.tools.select([name])]),
      ...mcpServers.map(({ name }, at): Check => [['mcpServers', at], () => this.needs.assertServer(name)]),
      [['budgets'], () => this.needs.assertPriced(definition, this.called(definition))],
      ...definition.skills.map((name, at): Check => [['skills', at], () => this.assertSkill(definition, name)]),
      [['protocol'], () => this.protocols.get(protocol)],
      [['memory', 'policy'], () => this.policies.assertKnown(memory.policy)],
      ...subAgents.map((name, at): Check => {
        return [['subAgents', at], () => this.assertSubAgent(definition, { name, tool: askName(name), names })];
      }),
      ...handoffs.map((name, at): Check => {
        return [['handoffs', at], () => this.assertSubAgent(definition, { name, tool: transferName(name), names })];
      }),
    ];
    return checks.flatMap(([path, check]) => {
      try {
        check();
        return [];
      } catch (error) {
        return [{ path, message: messageOf(error) }];
      }
    });
  }

  /** All existing agents that it calls, directly or through others; their runs count in its run budget. */
  private called(definition: AgentDefinition): AgentDefinition[] {
    const found = new Map<string, AgentDefinition>();
    const known = this.agents.names();
    const open = [definition];
    for (let next = open.pop(); next; next = open.pop()) {
      for (const name of [...next.subAgents, ...next.handoffs]) {
        if (found.has(name) || !known.includes(name)) continue;
        found.set(name, this.agents.get(name).definition);
        open.push(found.get(name)!);
      }
    }
    return [...found.values()];
  }

  /** Checks that the agent exists, and that no other tool has the name of its tool. */
  private assertSubAgent(definition: AgentDefinition, { name, tool, names }: SubAgent): void {
    if (!names.includes(name)) throw unknownAgent(name, names);
    this.assertFree(definition, tool, `the agent "${name}"`);
  }

  private assertSkill(definition: AgentDefinition, name: string): void {
    this.needs.assertSkill(name);
    if (definition.offeredSkills) this.assertFree(definition, READ_SKILL, 'skills');
  }

  /** @param owner the owner of a tool of this name, for the message */
  private assertFree(definition: AgentDefinition, tool: string, owner: string): void {
    const own = this.tools.available(selectionOf(definition));
    const other = own.find((one) => one.definition.name === tool);
    if (!other) return;
    const where = other.metadata.source;
    throw new AppError('AGENT_INVALID', `it has a tool "${tool}" (${where}) beside ${owner}: rename one`);
  }
}
