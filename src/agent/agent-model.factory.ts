import { Inject, Injectable } from '@nestjs/common';
import { llmConfig, type LlmConfig } from '../config/index.js';
import { ChatModel, configuredSettings, defaultContextTokens, ModelStackFactory } from '../llm/index.js';
import type { MemoryRules } from '../session/index.js';
import type { AgentDefinition, AgentDefinitionInput } from './agent-definition.schema.js';
import { assertAllowed, type NamedModel } from './allowed-model.policy.js';

const MAX_MODELS = 1000;
/** Default maximum of history messages. */
const DEFAULT_MESSAGES = 200;
/** Valid model names. */
const NAME = /^[^\s]{1,200}$/;

/** Creates agents' chat models; agents with equal settings share one. */
@Injectable()
export class AgentModelFactory {
  private readonly models = new Map<string, ChatModel>();
  private readonly own: ChatModel | undefined;

  constructor(
    private readonly stack: ModelStackFactory,
    @Inject(llmConfig.KEY) private readonly config: LlmConfig,
    /** The application's own model, which replaces every provider; usually `null`. */
    @Inject(ChatModel) own: ChatModel | null,
  ) {
    this.own = own ? stack.accounted(own) : undefined;
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
    const { maxMessages = DEFAULT_MESSAGES, maxContextTokens = defaultContextTokens(this.namesOf({ model })) } = memory;
    return { ...memory, maxMessages, maxContextTokens };
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
      { maxAttempts },
    );
  }
}
