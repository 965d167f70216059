import { Injectable } from '@nestjs/common';
import type { Principal } from '../common/index.js';
import { journalUnavailable, type RunContext, type RunRecord } from '../run/index.js';
import {
  agentRules,
  partTools,
  SecurityPolicies,
  ToolRegistry,
  ToolStateKeeper,
  ToolStates,
  ToolSwitchService,
  type StatesEnd,
  type Tool,
} from '../tool/index.js';
import type { AgentDefinition } from './agent-definition.schema.js';
import { selectionOf } from './agent-tools.mapper.js';
import { SubAgentTools } from './sub-agent/sub-agent-tools.service.js';

/** The tools of an agent, apart by whether the security policy's lists let somebody use them. */
export interface PartedTools {
  readonly allowed: readonly Tool[];
  readonly denied: readonly Tool[];
}

/** What is waited for has its own end. */
const NEVER = new AbortController().signal;

/** Which of its tools an agent is shown; a call to another one is answered with an error. */
@Injectable()
export class OfferedTools {
  constructor(
    private readonly tools: SubAgentTools,
    private readonly switches: ToolSwitchService,
    private readonly policies: SecurityPolicies,
    private readonly states: ToolStates,
    private readonly keeper: ToolStateKeeper,
    private readonly registry: ToolRegistry,
  ) {}

  /**
   * How the states of tools end that go with a run.
   * @param called the stateful ones that this execution has called
   */
  ending(run: RunRecord, context: RunContext, called: Iterable<Tool>): Promise<StatesEnd> {
    const isWhole = run.epoch === 1 && run.forkedFrom === null;
    return isWhole ? this.states.ending(context, called) : this.keeper.ending(run);
  }

  /** The same of a run of which nobody knows what it has called. */
  endingOf(run: RunRecord): Promise<StatesEnd> {
    return this.keeper.ending(run);
  }

  /**
   * The tools that are there and on now; such as are just coming are waited for.
   * @throws AppError `JOURNAL_UNAVAILABLE` when what is on cannot be read
   */
  async of(definition: AgentDefinition, { runId, principal, signal }: RunContext): Promise<PartedTools> {
    await this.registry.arrived(selectionOf(definition), signal);
    const { allowed, denied } = this.listed(definition, principal);
    const off = await this.off(runId, principal);
    if (off.size === 0) return { allowed, denied };
    const isOn = (tool: Tool): boolean => !off.has(tool.definition.name);
    return { allowed: allowed.filter(isOn), denied: denied.filter(isOn) };
  }

  /** Waits for such of them as are just coming. */
  async arrived(names: AgentDefinition['tools']): Promise<void> {
    await this.registry.arrived(names, NEVER);
  }

  /** The tools that are there, on or off. */
  listed(definition: AgentDefinition, principal: Principal): PartedTools {
    const caller = { agent: definition.name, principal, rules: agentRules(definition) };
    return partTools(this.policies, this.tools.of(definition), caller);
  }

  private async off(runId: string, { tenant }: Principal): Promise<ReadonlySet<string>> {
    try {
      return await this.switches.disabled(tenant);
    } catch (error) {
      throw journalUnavailable(runId, error);
    }
  }
}
