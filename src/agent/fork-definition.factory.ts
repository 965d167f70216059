import { Injectable } from '@nestjs/common';
import { AppError, messageOf } from '../errors/index.js';
import { fieldMistake, issueMistakes, type FieldMistake } from '../kernel/index.js';
import type { JsonValue } from '../kernel/json/index.js';
import type { RunRecord } from '../run/index.js';
import { ToolRegistry } from '../tool/index.js';
import { agentRules, SecurityPolicies } from '../tool-policy/index.js';
import { AgentCheckService } from './definition/agent-check.service.js';
import {
  parseStoredDefinition,
  type AgentDefinition,
  type AgentDefinitionInput,
} from './definition/agent-definition.schema.js';
import type { AgentChanges, ForkEdit } from './agent-fork.types.js';
import { AgentModelFactory, unchangedInput } from './agent-model.factory.js';
import { AgentRequestService, InputScreen } from './agent-request.service.js';
import { limitExcesses } from './fork-limit.policy.js';
import { AgentRegistry, type RegisteredAgent } from './definition/agent.registry.js';
import { selectionOf } from './offered-tools.service.js';
import type { AgentRunInput } from './agent.types.js';

type Parameters = AgentDefinitionInput['model']['parameters'];

/** The fields of `AgentChanges`; name, protocol and approval rules cannot be changed. */
const CHANGEABLE: readonly string[] = ['instructions', 'tools', 'memory', 'limits'] satisfies (keyof AgentChanges)[];

/** Creates the definition and input of a fork: those of the original run with the edits. */
@Injectable()
export class ForkDefinitionFactory {
  constructor(
    private readonly agents: AgentRegistry,
    private readonly check: AgentCheckService,
    private readonly tools: ToolRegistry,
    private readonly models: AgentModelFactory,
    private readonly requests: AgentRequestService,
    private readonly policies: SecurityPolicies,
  ) {}

  /**
   * The edit after the content filters of the fork's agent: the input filter for all texts, that of results also for a
   * tool result.
   * @returns the edit, and the kinds of masked content
   * @throws AppError `INPUT_BLOCKED`, `AGENT_NOT_FOUND`
   */
  screened(
    { definition }: RunRecord,
    edit: ForkEdit,
  ): { readonly edit: ForkEdit; readonly masked?: readonly string[] } {
    const { agent, model, message, toolResult } = edit;
    const rules = agentRules(
      typeof agent === 'string' ? this.agents.get(agent).definition : parseStoredDefinition(definition),
    );
    const [input, results] = [this.policies.filter('input', rules), this.policies.filter('results', rules)];
    const screen = new InputScreen([input]);
    const text = (content: unknown, what: string) => screen.admit(content as JsonValue, what);
    const changes = typeof agent === 'object' && agent !== null ? agent : {};
    const screened = {
      ...edit,
      ...(message !== undefined && { message: text(message, 'edit.message') }),
      ...(toolResult !== undefined && {
        toolResult: screen.admit(toolResult as JsonValue, 'edit.toolResult', [input, results]),
      }),
      ...(changes.instructions !== undefined && {
        agent: { ...changes, instructions: text(changes.instructions, 'edit.agent.instructions') },
      }),
      ...(model?.parameters?.stop !== undefined && {
        model: {
          ...model,
          parameters: { ...model.parameters, stop: text(model.parameters.stop, 'edit.model.parameters.stop') },
        },
      }),
    };
    return { edit: screened as ForkEdit, ...screen.masked };
  }

  /**
   * Input of a fork: the original input with the screened edit.
   * @param masked kinds of masked content in the edit
   * @throws AppError `INPUT_BLOCKED`, `MODEL_NOT_ALLOWED`, `MODEL_CANNOT_FORMAT`
   */
  input(
    formerInput: AgentRunInput,
    edit: ForkEdit,
    definition: AgentDefinition,
    masked: readonly string[] = [],
  ): AgentRunInput {
    const { message, agent } = edit;
    const unchanged = { ...unchangedInput(formerInput, edit), ...(message !== undefined && { query: message }) };
    // Another agent may have stricter guardrails.
    const screened = typeof agent === 'string' ? this.requests.screen(unchanged, definition) : unchanged;
    const all = new Set([unchanged.masked, masked, screened.masked].flatMap((kinds) => kinds ?? []));
    const input = { ...screened, ...(all.size > 0 && { masked: [...all] }) };
    if (input.model) this.models.assertAllowed(input.model, definition);
    this.requests.assertFormattable(definition, input);
    return input;
  }

  /**
   * The definition of a fork. It cannot exceed the limits of the run's agent: those of the run's definition or, if the
   * operator has raised them since, those of the registered agent.
   * @param hasReplies whether the fork replays recorded replies, which requires the original protocol
   * @throws AppError `VALIDATION_FAILED` naming the fault of the edit, `AGENT_NOT_FOUND`, `MODEL_NOT_ALLOWED`
   */
  create(original: RunRecord, { agent, model }: ForkEdit, hasReplies: boolean): RegisteredAgent {
    const own = parseStoredDefinition(original.definition);
    if (agent === undefined && model === undefined) {
      return { definition: own, content: original.definition, hash: original.definitionHash };
    }
    const base = this.baseOf(own, agent);
    const input = {
      ...base,
      ...(hasReplies && { protocol: own.protocol }),
      ...(model && { model: modelOf(base, model) }),
    };
    const defined = this.define(input, model);
    if (model) this.models.assertAllowed(defined.definition.model, base);
    const limiting = typeof agent === 'string' ? [this.agents.get(agent).definition] : this.limitingFor(own);
    const excesses = limitExcesses(defined.definition, limiting, (of) => this.models.memoryRules(of));
    if (excesses.length > 0) throw invalid(...excesses);
    return defined;
  }

  private limitingFor(own: AgentDefinition): AgentDefinition[] {
    return this.agents.names().includes(own.name) ? [own, this.agents.get(own.name).definition] : [own];
  }

  private baseOf(own: AgentDefinition, agent: ForkEdit['agent']): AgentDefinitionInput {
    if (agent === undefined) return own;
    if (typeof agent === 'string') return this.agents.get(agent).definition;
    const unknown = Object.keys(agent).filter((field) => !CHANGEABLE.includes(field));
    if (unknown.length > 0) {
      const message = `only ${CHANGEABLE.join(', ')} can be changed, not ${unknown.join(', ')}`;
      throw invalid(fieldMistake('edit.agent', message, 'isChangeable', agent));
    }
    const { tools, memory, limits, ...rest } = agent;
    return {
      ...own,
      ...rest,
      // The tool names already include the tools of the MCP servers.
      ...(tools !== undefined && { tools: this.narrowed(own, tools), mcpServers: own.mcpServers.filter(isOff) }),
      ...(memory !== undefined && { memory: merged(own.memory, memory) }),
      ...(limits !== undefined && { limits: merged(own.limits, limits) }),
    };
  }

  /** Resolves patterns to names: a pattern could later match tools that were not permitted. */
  private narrowed(own: AgentDefinition, wanted: AgentDefinition['tools']): string[] {
    const names = this.namesOf(wanted);
    const allowed = new Set(this.tools.available(selectionOf(own)).map(({ definition }) => definition.name));
    const more = names.filter((name) => !allowed.has(name));
    if (more.length > 0) {
      const message = `the agent "${own.name}" does not have ${more.join(', ')}`;
      throw invalid(fieldMistake('edit.agent.tools', message, 'isOfAgent', wanted));
    }
    return names;
  }

  private namesOf(wanted: unknown): string[] {
    if (wanted !== '*' && !Array.isArray(wanted)) {
      throw invalid(fieldMistake('edit.agent.tools', 'they must be "*" or names', 'isSelection', wanted));
    }
    const at = wanted === '*' ? -1 : wanted.findIndex((name) => typeof name !== 'string');
    if (at >= 0) throw invalid(fieldMistake(`edit.agent.tools.${at}`, 'it must be a name', 'isString', wanted[at]));
    try {
      return this.tools.select(wanted as '*' | readonly string[]).map(({ definition }) => definition.name);
    } catch (error) {
      throw invalid(this.wrongName(wanted, messageOf(error)));
    }
  }

  /** Finds the name that caused the error. */
  private wrongName(wanted: unknown, message: string): FieldMistake {
    const names: readonly unknown[] = Array.isArray(wanted) ? wanted : [];
    const at = names.findIndex((name) => !this.isSelectable(name));
    const field = at < 0 ? 'edit.agent.tools' : `edit.agent.tools.${at}`;
    return fieldMistake(field, message, 'isTool', at < 0 ? wanted : names[at]);
  }

  private isSelectable(name: unknown): boolean {
    try {
      return typeof name === 'string' && this.tools.select([name]).length >= 0;
    } catch {
      return false;
    }
  }

  private define(input: AgentDefinitionInput, model: ForkEdit['model']): RegisteredAgent {
    let defined: RegisteredAgent;
    try {
      defined = this.agents.define(input);
    } catch (error) {
      // An error without faulty fields means that the model is unavailable.
      const field = model?.provider === undefined ? 'edit.model.name' : 'edit.model.provider';
      const wrong = error instanceof AppError ? (error.details?.['errors'] as FieldMistake[] | undefined) : undefined;
      if (wrong) throw invalid(...wrong.map((mistake) => ({ ...mistake, field: editedField(mistake.field) })));
      throw invalid(fieldMistake(model ? field : 'edit.agent', messageOf(error), 'isModel', input.model));
    }
    const faults = this.check.faults(defined.definition);
    if (faults.length === 0) return defined;
    throw invalid(...faults.map(({ path, message }) => toMistake(path, message, defined.definition)));
  }
}

function isOff({ enabled }: AgentDefinition['mcpServers'][number]): boolean {
  return !enabled;
}

/**
 * The model of the fork. An edit with another provider but no model name selects that provider's default model. The
 * longest reply, the fallback models and the number of attempts stay those of the agent.
 */
function modelOf(
  { model: { capabilities, ...own } }: AgentDefinitionInput,
  { provider = own.provider, name, parameters = own.parameters }: NonNullable<ForkEdit['model']>,
): AgentDefinitionInput['model'] {
  const named = name ?? (provider === own.provider ? own.name : undefined);
  const isSame = provider === own.provider && named === own.name;
  const { name: _name, ...rest } = own;
  return {
    ...rest,
    provider,
    parameters: withMaxTokens(parameters, own.parameters?.maxTokens),
    ...(named !== undefined && { name: named }),
    ...(isSame && capabilities && { capabilities }),
  };
}

/** Returns parameters that are not an object unchanged, so that the schema rejects them. */
function withMaxTokens(parameters: Parameters, maxTokens: number | undefined): Parameters {
  return maxTokens !== undefined && typeof parameters === 'object' ? { maxTokens, ...parameters } : parameters;
}

/** Returns a change that is not an object unchanged, so that the schema rejects it. */
function merged<T extends object | undefined>(own: T, change: T): T {
  return typeof change === 'object' && !Array.isArray(change) ? { ...own, ...change } : change;
}

function toMistake(path: readonly PropertyKey[], message: string, definition: AgentDefinition): FieldMistake {
  const [mistake] = issueMistakes([{ path, message, code: 'isThere' }], definition);
  return { ...mistake!, field: editedField(mistake!.field) };
}

/** Maps a field of a definition to the field of the fork edit. */
function editedField(field: string): string {
  return /^model\b/.test(field) ? `edit.${field}` : `edit.agent.${field}`;
}

function invalid(...errors: readonly FieldMistake[]): AppError {
  const detail = errors.map(({ field, message }) => `${field}: ${message}`).join('; ');
  return new AppError('VALIDATION_FAILED', `The run cannot be forked so: ${detail}.`, { details: { errors } });
}
