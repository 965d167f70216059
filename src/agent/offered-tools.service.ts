import { Injectable } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { fieldMistake, type Principal } from '../kernel/index.js';
import type { JsonSchema } from '../kernel/json/index.js';
import type { RunRecord } from '../run/index.js';
import { journalUnavailable, type RunContext } from '../run/context/index.js';
import { agentRules, partTools, SecurityPolicies, ToolSwitchService } from '../tool-policy/index.js';
import { type StatesEnd, ToolStateAdminService, ToolStates } from '../tool-state/index.js';
import { refusedName, suspend, type ToolAnnouncement, ToolRegistry } from '../tool/index.js';
import type { Tool } from '../tool/method/index.js';
import type { AgentDefinition } from './definition/agent-definition.schema.js';
import { AgentRegistry } from './definition/agent.registry.js';
import { skillTool } from './skills/skill-tool.factory.js';
import { SkillRegistry } from './skills/skill.registry.js';
import { askTool, transferTool } from './sub-agent/sub-agent-tool.factory.js';

type Selected = Pick<AgentDefinition, 'tools' | 'mcpServers'>;

/** Returns the same array for the same definition, so that the registry can cache by identity. */
const selections = new WeakMap<Selected['mcpServers'], readonly string[]>();

/** Tool selection of an agent, as `ToolRegistry` accepts it: the listed names, then the patterns of its MCP servers. */
export function selectionOf({ tools, mcpServers }: Selected): readonly string[] | '*' {
  if (mcpServers.length === 0) return tools;
  let selection = selections.get(mcpServers);
  if (!selection) {
    const named = tools === '*' ? [tools] : tools;
    selection = [...named, ...mcpServers.map(({ name, enabled }) => `${enabled ? '' : '!'}${name}__*`)];
    selections.set(mcpServers, selection);
  }
  return selection;
}

/** All tools of an agent: registered tools, the agents that it may ask or hand over to, and the reader of its skills. */
@Injectable()
export class SubAgentTools {
  /** Returns the same array while the registry returns the same one, so that consumers can cache by identity. */
  private lists = new WeakMap<readonly Tool[], Map<string, readonly Tool[]>>();

  constructor(
    private readonly agents: AgentRegistry,
    private readonly tools: ToolRegistry,
    private readonly skills: SkillRegistry,
  ) {
    // Tool descriptions contain agent descriptions.
    agents.changes.add(() => (this.lists = new WeakMap()));
  }

  /** The agent's available tools; a registered tool takes precedence over another one of the same name. */
  of(definition: AgentDefinition): readonly Tool[] {
    const { subAgents, handoffs, offeredSkills = [] } = definition;
    const own = this.tools.available(selectionOf(definition));
    if (subAgents.length + handoffs.length + offeredSkills.length === 0) return own;
    const lists = this.lists.get(own) ?? new Map<string, readonly Tool[]>();
    this.lists.set(own, lists);
    const skills = offeredSkills.map(({ name }) => name);
    const key = JSON.stringify([subAgents, handoffs, skills]);
    let all = lists.get(key);
    if (!all) {
      const names = new Set(own.map((tool) => tool.definition.name));
      const more = [...this.agentsOf(subAgents, handoffs), ...this.skillsOf(skills)];
      all = [...own, ...more.filter((tool) => !names.has(tool.definition.name))];
      lists.set(key, all);
    }
    return all;
  }

  private agentsOf(subAgents: readonly string[], handoffs: readonly string[]): readonly Tool[] {
    const known = new Map(this.agents.list().map((agent) => [agent.name, agent]));
    return [
      ...subAgents.flatMap((name) => known.get(name) ?? []).map((agent) => askTool(agent)),
      ...handoffs.flatMap((name) => known.get(name) ?? []).map((agent) => transferTool(agent)),
    ];
  }

  private skillsOf(names: readonly string[]): readonly Tool[] {
    return names.length === 0 ? [] : [skillTool(this.skills, names)];
  }
}

/** The tools of an agent, split by whether the tool lists of the security policy permit the caller to use them. */
export interface PartedTools {
  readonly allowed: readonly Tool[];
  readonly denied: readonly Tool[];
}

/** Never aborts: the wait for announced tools always ends by itself. */
const NEVER = new AbortController().signal;

/** The tools of a list that are for models, not only for the views of MCP servers. */
const modelTools = new WeakMap<readonly Tool[], readonly Tool[]>();

function isForModels({ metadata }: Tool): boolean {
  return metadata.app?.isForModels !== false;
}

/** Returns the same array for the same list: the registry, protocols and providers cache by identity. */
function forModels(tools: readonly Tool[]): readonly Tool[] {
  let offered = modelTools.get(tools);
  if (!offered) {
    offered = tools.every(isForModels) ? tools : tools.filter(isForModels);
    modelTools.set(tools, offered);
  }
  return offered;
}

/** Selects the tools that the model of an agent sees; the loop answers a call to another tool with an error. */
@Injectable()
export class OfferedTools {
  constructor(
    private readonly tools: SubAgentTools,
    private readonly switches: ToolSwitchService,
    private readonly policies: SecurityPolicies,
    private readonly states: ToolStates,
    private readonly stateAdmin: ToolStateAdminService,
    private readonly registry: ToolRegistry,
  ) {}

  /**
   * End of the tool states whose lifetime is the run.
   * @param called the stateful tools that this execution has called
   */
  ending(run: RunRecord, context: RunContext, called: Iterable<Tool>): Promise<StatesEnd> {
    const isWhole = run.epoch === 1 && run.forkedFrom === null;
    return isWhole ? this.states.ending(context, called) : this.stateAdmin.ending(run);
  }

  /** The same for a run whose called tools are unknown. */
  endingOf(run: RunRecord): Promise<StatesEnd> {
    return this.stateAdmin.ending(run);
  }

  /**
   * The agent's available and enabled tools; waits for tools that are still being registered.
   * @throws AppError `JOURNAL_UNAVAILABLE` when the disabled tools cannot be read
   */
  async of(definition: AgentDefinition, { runId, principal, signal }: RunContext): Promise<PartedTools> {
    await this.registry.arrived(selectionOf(definition), signal);
    const { allowed, denied } = this.listed(definition, principal);
    const off = await this.off(runId, principal);
    if (off.size === 0) return { allowed, denied };
    const isOn = (tool: Tool): boolean => !off.has(tool.definition.name);
    return { allowed: allowed.filter(isOn), denied: denied.filter(isOn) };
  }

  /** The selected sources of tools that are not connected. */
  missing(definition: AgentDefinition): readonly ToolAnnouncement[] {
    return this.registry.missing(selectionOf(definition));
  }

  /** Waits for the agent's tools that are still being registered. */
  async ready(definition: AgentDefinition): Promise<void> {
    await this.registry.arrived(selectionOf(definition), NEVER);
  }

  /** Waits for those of the named tools that are still being registered. */
  async arrived(names: AgentDefinition['tools']): Promise<void> {
    await this.registry.arrived(names, NEVER);
  }

  /** The agent's available tools, enabled or not. */
  listed(definition: AgentDefinition, principal: Principal): PartedTools {
    const caller = { agent: definition.name, principal, rules: agentRules(definition) };
    return partTools(this.policies, forModels(this.tools.of(definition)), caller);
  }

  private async off(runId: string, { tenant }: Principal): Promise<ReadonlySet<string>> {
    try {
      return await this.switches.disabled(tenant);
    } catch (error) {
      throw journalUnavailable(runId, error);
    }
  }
}

/** A tool that the client of a request executes: a call of it ends the response, and the client sends its result later. */
export interface ClientTool {
  readonly name: string;
  readonly description?: string;
  /** Default: any object. Only the model reads it; the client checks the arguments. */
  readonly inputSchema?: JsonSchema;
}

/** Time until the run of an unanswered call ends, in ms. */
const EXPIRY_MS = 86_400_000;
const QUESTION = 'The client of the run executes this call and answers with its result.';

/** A client's results are data of the client: untrusted and private. */
export function clientTool({ name, description = '', inputSchema = { type: 'object' } }: ClientTool): Tool {
  return {
    definition: { name, description, inputSchema },
    metadata: {
      effect: 'read',
      source: 'the client',
      egress: false,
      untrusted: true,
      isClient: true,
      isReturnForeign: true,
    },
    validate: (value) => ({ valid: true, value }),
    invoke: (_input, { answer }) => (answer ? answer.value : suspend({ question: QUESTION, expiresInMs: EXPIRY_MS })),
  };
}

/** @throws AppError `VALIDATION_FAILED` for a name that providers reject, and for two tools of the same name */
export function assertClientTools(tools: readonly ClientTool[]): void {
  const names = new Set<string>();
  for (const [at, { name }] of tools.entries()) {
    const fault = refusedName(name) ?? (names.has(name) ? `the name "${name}" is used twice` : undefined);
    names.add(name);
    if (fault === undefined) continue;
    throw new AppError('VALIDATION_FAILED', `The request is not valid: tools.${at}: ${fault}.`, {
      details: { errors: [fieldMistake(`tools.${at}.name`, fault, 'isToolName', name)] },
    });
  }
}
