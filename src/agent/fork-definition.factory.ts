import { Injectable } from '@nestjs/common';
import { AppError, messageOf } from '../common/index.js';
import type { RunRecord } from '../run/index.js';
import { ToolRegistry } from '../tool/index.js';
import { AgentCheckService } from './agent-check.service.js';
import { parseStoredDefinition, type AgentDefinition, type AgentDefinitionInput } from './agent-definition.schema.js';
import type { AgentChanges, ForkEdit } from './agent-fork.types.js';
import { AgentModelFactory } from './agent-model.factory.js';
import { AgentRequestService } from './agent-request.service.js';
import { AgentRegistry, type RegisteredAgent } from './agent.registry.js';
import { selectionOf } from './agent-tools.mapper.js';
import type { AgentRunInput } from './agent.types.js';
import { keptInput } from './asked-agent.mapper.js';

/** The fields of `AgentChanges`: what rules an agent (its name, protocol, whom it waits for) is not among them. */
const CHANGEABLE: readonly string[] = ['instructions', 'tools', 'memory', 'limits'] satisfies (keyof AgentChanges)[];

/** The definition that a fork executes, and what it is asked: those of its run, with what is edited. */
@Injectable()
export class ForkDefinitionFactory {
  constructor(
    private readonly agents: AgentRegistry,
    private readonly check: AgentCheckService,
    private readonly tools: ToolRegistry,
    private readonly models: AgentModelFactory,
    private readonly requests: AgentRequestService,
  ) {}

  /** What a fork is asked: what its run was, with what is edited. @throws AppError `INPUT_BLOCKED` */
  input(given: AgentRunInput, edit: ForkEdit, definition: AgentDefinition): AgentRunInput {
    const kept = keptInput(given, edit);
    return edit.message === undefined ? kept : { ...kept, ...this.requests.screen(edit.message, definition) };
  }

  /**
   * @param hasReplies whether recorded replies will be read again: then they are read by the protocol they were written in
   * @throws AppError `VALIDATION_FAILED` saying what is wrong with the edit, `AGENT_NOT_FOUND`, `MODEL_NOT_ALLOWED`
   */
  create(original: RunRecord, { agent, model }: ForkEdit, hasReplies: boolean): RegisteredAgent {
    const own = parseStoredDefinition(original.definition);
    if (agent === undefined && model === undefined) {
      return { definition: own, content: original.definition, hash: original.definitionHash };
    }
    const base = this.baseOf(own, agent);
    const defined = this.define({
      ...base,
      ...(hasReplies && { protocol: own.protocol }),
      ...(model && { model: modelOf(base, model) }),
    });
    if (model) this.models.assertAllowed(defined.definition.model, base);
    return defined;
  }

  private baseOf(own: AgentDefinition, agent: ForkEdit['agent']): AgentDefinitionInput {
    if (agent === undefined) return own;
    if (typeof agent === 'string') return this.agents.get(agent).definition;
    const unknown = Object.keys(agent).filter((field) => !CHANGEABLE.includes(field));
    if (unknown.length > 0) {
      throw invalid('agent', `only ${CHANGEABLE.join(', ')} can be changed, not ${unknown.join(', ')}`);
    }
    const { tools, memory, limits, ...rest } = agent;
    return {
      ...own,
      ...rest,
      // Those of its MCP servers are among the names.
      ...(tools !== undefined && { tools: this.narrowed(own, tools), mcpServers: own.mcpServers.filter(isOff) }),
      ...(memory !== undefined && { memory: merged(own.memory, memory) }),
      ...(limits !== undefined && { limits: merged(own.limits, limits) }),
    };
  }

  /** By their names: what a pattern comes to mean later is not what was allowed. */
  private narrowed(own: AgentDefinition, wanted: AgentDefinition['tools']): string[] {
    const names = this.namesOf(wanted);
    const allowed = new Set(this.tools.available(selectionOf(own)).map(({ definition }) => definition.name));
    const more = names.filter((name) => !allowed.has(name));
    if (more.length > 0) throw invalid('agent.tools', `the agent "${own.name}" does not have ${more.join(', ')}`);
    return names;
  }

  private namesOf(wanted: unknown): string[] {
    if (wanted !== '*' && !(Array.isArray(wanted) && wanted.every((name) => typeof name === 'string'))) {
      throw invalid('agent.tools', 'they must be "*" or names');
    }
    try {
      return this.tools.select(wanted).map(({ definition }) => definition.name);
    } catch (error) {
      throw invalid('agent.tools', messageOf(error));
    }
  }

  private define(input: AgentDefinitionInput): RegisteredAgent {
    let defined: RegisteredAgent;
    try {
      defined = this.agents.define(input);
    } catch (error) {
      throw invalid('edit', messageOf(error));
    }
    const mistakes = this.check.mistakes(defined.definition);
    if (mistakes.length > 0) throw invalid('edit', mistakes.join('; '));
    return defined;
  }
}

function isOff({ enabled }: AgentDefinition['mcpServers'][number]): boolean {
  return !enabled;
}

/** A model of another provider is that provider's own, unless it is named too. */
function modelOf(
  { model }: AgentDefinitionInput,
  { provider = model.provider, name, parameters = model.parameters }: NonNullable<ForkEdit['model']>,
): AgentDefinitionInput['model'] {
  const named = name ?? (provider === model.provider ? model.name : undefined);
  return { provider, parameters, ...(named !== undefined && { name: named }) };
}

/** What is no object goes on as it is, for the schema to refuse. */
function merged<T extends object | undefined>(own: T, change: T): T {
  return typeof change === 'object' && !Array.isArray(change) ? { ...own, ...change } : change;
}

function invalid(field: string, message: string): AppError {
  return new AppError('VALIDATION_FAILED', `The run cannot be forked so: ${field}: ${message}.`, {
    details: { errors: [{ field: field === 'edit' ? field : `edit.${field}`, message }] },
  });
}
