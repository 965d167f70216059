import { Injectable } from '@nestjs/common';
import { type Tool, ToolRegistry } from '../../tool/index.js';
import type { AgentDefinition } from '../agent-definition.schema.js';
import { selectionOf } from '../agent-tools.mapper.js';
import { AgentRegistry } from '../agent.registry.js';
import { askTool, transferTool } from './sub-agent-tool.factory.js';

/** All tools of an agent: registered tools, and the agents that it may ask or hand over to. */
@Injectable()
export class SubAgentTools {
  /** Returns the same array while the registry returns the same one, so that consumers can cache by identity. */
  private lists = new WeakMap<readonly Tool[], Map<string, readonly Tool[]>>();

  constructor(
    private readonly agents: AgentRegistry,
    private readonly tools: ToolRegistry,
  ) {
    // Tool descriptions contain agent descriptions.
    agents.changes.add(() => (this.lists = new WeakMap()));
  }

  /** The agent's available tools; a registered tool takes precedence over an agent tool of the same name. */
  of(definition: AgentDefinition): readonly Tool[] {
    const { subAgents, handoffs } = definition;
    const own = this.tools.available(selectionOf(definition));
    if (subAgents.length + handoffs.length === 0) return own;
    const lists = this.lists.get(own) ?? new Map<string, readonly Tool[]>();
    this.lists.set(own, lists);
    const key = JSON.stringify([subAgents, handoffs]);
    let all = lists.get(key);
    if (!all) {
      all = [...own, ...this.agentsOf(own, subAgents, handoffs)];
      lists.set(key, all);
    }
    return all;
  }

  private agentsOf(own: readonly Tool[], subAgents: readonly string[], handoffs: readonly string[]): readonly Tool[] {
    const known = new Map(this.agents.list().map((agent) => [agent.name, agent]));
    const names = new Set(own.map(({ definition }) => definition.name));
    return [
      ...subAgents.flatMap((name) => known.get(name) ?? []).map((agent) => askTool(agent)),
      ...handoffs.flatMap((name) => known.get(name) ?? []).map((agent) => transferTool(agent)),
    ].filter(({ definition }) => !names.has(definition.name));
  }
}
