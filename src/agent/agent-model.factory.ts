import { Inject, Injectable } from '@nestjs/common';
import { llmConfig, type LlmConfig } from '../config/namespaces/index.js';
import { AppError } from '../errors/index.js';
import { configuredSettings, fitParameters, ModelStackFactory } from '../llm/index.js';
import { Cassette } from '../llm/cassette/index.js';
import { type AgentBudgets, ChatModel, type ModelParameters, type ParameterName } from '../llm/chat/index.js';
import { contextWindowOf, defaultContextTokens, isCosted, isPriced } from '../llm/models/index.js';
import type { ReasoningRequest } from '../reasoning/index.js';
import type { MemoryRules } from '../session/memory/index.js';
import type { AgentDefinition, AgentDefinitionInput } from './definition/agent-definition.schema.js';
import type { ForkEdit } from './agent-fork.types.js';
import type { AgentRunInput, RequestOverrides } from './agent.types.js';

/** Default temperature, for models that support one. */
const DEFAULT_TEMPERATURE = 0.7;

type CallParameters = Pick<ReasoningRequest, 'parameters' | 'optionalParameters'>;

/** Applies the overrides of a request to the definition. */
export function withOverrides(
  definition: AgentDefinition,
  { model, protocol, parameters }: RequestOverrides,
): AgentDefinition {
  if (!model && !parameters) return definition;
  const merged = { ...definition.model.parameters, ...parameters };
  const { capabilities: _capabilities, ...own } = definition.model;
  return {
    ...definition,
    // The capabilities of the agent's own model do not apply to another model.
    model: { ...(model ? { ...own, ...model } : definition.model), parameters: merged },
    protocol: protocol ?? definition.protocol,
  };
}

/** The parameters of a model call: a default temperature if neither temperature nor top-p is set. */
export function withDefaults(
  parameters: ModelParameters,
  { capabilities }: ChatModel,
  optionalParameters: readonly ParameterName[] = [],
): CallParameters {
  const limits = capabilities.parameterLimits;
  const isSet = parameters.temperature !== undefined || parameters.topP !== undefined;
  if (isSet || limits?.uncertain?.includes('temperature')) return { parameters, optionalParameters };
  const { taken } = fitParameters({ temperature: DEFAULT_TEMPERATURE }, limits);
  return { parameters: { ...parameters, ...taken }, optionalParameters: [...optionalParameters, 'temperature'] };
}

/** A run's input for its fork, without the fields that the edit replaces; another agent uses its own settings. */
export function unchangedInput(formerInput: AgentRunInput, { model, agent, message }: ForkEdit): AgentRunInput {
  const input = message === undefined ? formerInput : without(formerInput, ['masked']);
  if (typeof agent === 'string')
    return without(input, ['model', 'protocol', 'parameters', 'optionalParameters', 'toolChoice', 'responseFormat']);
  const isOtherModel = model?.name !== undefined || model?.provider !== undefined;
  const lost: (keyof AgentRunInput)[] = isOtherModel ? ['model', 'protocol'] : [];
  return without(input, model?.parameters === undefined ? lost : [...lost, 'parameters', 'optionalParameters']);
}

function without(input: AgentRunInput, fields: readonly string[]): AgentRunInput {
  const others = Object.entries(input).filter(([name]) => !fields.includes(name));
  return Object.fromEntries(others) as unknown as AgentRunInput;
}

interface NamedModel {
  readonly provider: string;
  /** Default: the provider's default model. */
  readonly name?: string;
}

/**
 * Checks that a request may choose the model: the operator decides which costs are permitted.
 * @param agent the agent, whose own model is always allowed and whose budgets apply
 * @throws AppError `MODEL_NOT_ALLOWED`
 */
function assertAllowed(
  { provider, name }: NamedModel,
  { model: own, budgets = {} }: Pick<AgentDefinitionInput, 'model' | 'budgets'>,
  llm: LlmConfig,
): void {
  if (provider === own.provider && name === own.name) return;
  const model = `${provider}:${name}`;
  const why = refusal({ provider, name: name ?? '' }, llm, budgets);
  if (why === null) return;
  throw new AppError('MODEL_NOT_ALLOWED', `A request may not name the model "${model}": ${why}.`, {
    details: { model },
  });
}

function refusal(model: Required<NamedModel>, llm: LlmConfig, own: AgentBudgets): string | null {
  const { requestModels, budget } = llm;
  const name = `${model.provider}:${model.name}`;
  if (requestModels && !requestModels.some((pattern) => toExpression(pattern).test(name)))
    return 'it is not among those of LLM_REQUEST_MODELS';
  if ((!isCosted(budget) && !isCosted(own)) || isPriced(model, llm)) return null;
  return 'there is a budget of cost, and it has no price (add it to LLM_PRICES, with 0 if it costs nothing)';
}

function toExpression(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[^\w:]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}

const MAX_MODELS = 1000;
/** Default maximum of history messages. */
const DEFAULT_MESSAGES = 200;
/** Valid model names. */
const NAME = /^[^\s]{1,200}$/;

/** Creates agents' chat models; agents with equal settings share one. */
@Injectable()
export class AgentModelFactory {
  private readonly models = new Map<string, ChatModel>();
  /** Context windows, by the model of a definition. */
  private readonly windows = new WeakMap<AgentDefinition['model'], number>();
  private readonly own: ChatModel | undefined;

  constructor(
    private readonly stack: ModelStackFactory,
    @Inject(llmConfig.KEY) private readonly config: LlmConfig,
    /** The application's own model, which replaces every provider; usually `null`. */
    @Inject(ChatModel) own: ChatModel | null,
    /** Recorded calls of all models; usually `null`. */
    @Inject(Cassette) private readonly cassette: Cassette | null = null,
  ) {
    this.own = own ? stack.ofApplication(own, { cassette }) : undefined;
  }

  /** @throws AppError `CONFIG_INVALID` when the provider is unknown or has no key */
  create({ model }: Pick<AgentDefinition, 'model'>): ChatModel {
    if (this.own) return this.own;
    const { provider, name, capabilities, fallback, maxAttempts } = model;
    const key = JSON.stringify([provider, name, capabilities, fallback, maxAttempts]);
    let made = this.models.get(key);
    if (!made) this.keep(key, (made = this.make(model)));
    return made;
  }

  /** The agent's memory rules, with the server's defaults for omitted limits. */
  memoryRules({ memory, model }: Pick<AgentDefinition, 'model' | 'memory'>): MemoryRules {
    const fitting = () => defaultContextTokens(this.namesOf({ model }), this.config.models);
    const { maxMessages = DEFAULT_MESSAGES, maxContextTokens = fitting() } = memory;
    return { ...memory, maxMessages, maxContextTokens };
  }

  /** The smallest known context window of the models that may answer for an agent, in tokens; infinite without one. */
  contextTokens({ model }: Pick<AgentDefinition, 'model'>): number {
    let smallest = this.windows.get(model);
    if (smallest === undefined) {
      const windows = this.namesOf({ model }).map((one) => contextWindowOf(one, this.config.models) ?? Infinity);
      this.windows.set(model, (smallest = Math.min(...windows)));
    }
    return smallest;
  }

  /** The models that may answer for an agent: its own, then its fallback models. */
  namesOf({ model }: Pick<AgentDefinition, 'model'>): Required<NamedModel>[] {
    if (this.own) return [this.own];
    const others =
      model.fallback ?? this.config.resilience.fallback.map(({ provider, model: name }) => ({ provider, name }));
    return [model, ...others].map(({ provider, name }) => ({ provider, name: name ?? this.nameOf(provider) }));
  }

  /**
   * Parses the model name of a request, with an optional prefix of a known provider; else it is a model of `provider`.
   * Names may contain colons.
   * @returns null when the text is not a model name
   */
  parse(text: string, provider: string): { provider: string; name: string } | null {
    const [, first = '', rest = ''] = /^([^:]*):([^]*)$/.exec(text) ?? [];
    const named = this.stack.providers().includes(first) ? { provider: first, name: rest } : { provider, name: text };
    return NAME.test(named.name) ? named : null;
  }

  /**
   * Checks that a request may name the model.
   * @param agent the agent, whose own model is always allowed
   * @throws AppError `MODEL_NOT_ALLOWED`
   */
  assertAllowed(model: NamedModel, agent: Pick<AgentDefinitionInput, 'model' | 'budgets'>): void {
    assertAllowed(model, agent, this.config);
  }

  /** Name of a provider's default model; empty if the provider is unavailable. */
  private nameOf(provider: string): string {
    try {
      return this.create({ model: { provider, parameters: {}, fallback: [] } }).name;
    } catch {
      return '';
    }
  }

  /** Requests may name any number of models: the oldest entry is evicted. */
  private keep(key: string, model: ChatModel): void {
    this.models.set(key, model);
    const [oldest] = this.models.keys();
    if (this.models.size > MAX_MODELS && oldest !== undefined) this.models.delete(oldest);
  }

  private make({ provider, name, capabilities, fallback, maxAttempts }: AgentDefinition['model']): ChatModel {
    const others = fallback?.map((one) => ({ provider: one.provider, model: one.name }));
    return this.stack.create(
      { ...configuredSettings(this.config, { provider, model: name }), ...(capabilities && { capabilities }) },
      (others ?? this.config.resilience.fallback).map((one) => configuredSettings(this.config, one)),
      { maxAttempts, cassette: this.cassette },
    );
  }
}
