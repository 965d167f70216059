import { Injectable, Optional } from '@nestjs/common';
import { AppConfig, type ModelChoice, type ProviderAccess } from '../config/index.js';
import { ChatModel, defaultContextTokens, ModelStackFactory, type ModelSettings } from '../llm/index.js';
import type { MemoryRules } from '../session/index.js';
import type { AgentDefinition, AgentDefinitionInput } from './agent-definition.schema.js';
import { assertAllowed, type NamedModel } from './allowed-model.policy.js';

const MAX_MODELS = 1000;
/** Messages of the past that a run sees at most where its agent does not say. */
const DEFAULT_MESSAGES = 200;
/** What may be the name of a model. */
const NAME = /^[^\s]{1,200}$/;

/** The chat model of an agent, made once for agents that have the same one. */
@Injectable()
export class AgentModelFactory {
  private readonly models = new Map<string, ChatModel>();
  private readonly own: ChatModel | undefined;

  constructor(
    private readonly stack: ModelStackFactory,
    private readonly config: AppConfig,
    /** Takes the place of every provider: an application's own model. */
    @Optional() own?: ChatModel,
  ) {
    this.own = own && stack.accounted(own);
  }

  /** @throws AppError `CONFIG_INVALID` when the provider is unknown or lacks its key */
  create({ model }: Pick<AgentDefinition, 'model'>): ChatModel {
    if (this.own) return this.own;
    const { provider, name, capabilities, fallback, maxAttempts } = model;
    const key = JSON.stringify([provider, name, capabilities, fallback, maxAttempts]);
    let made = this.models.get(key);
    if (!made) this.keep(key, (made = this.make(model)));
    return made;
  }

  /** What of its session's past a run of the agent may see, with the limits that it leaves to the server. */
  memoryRules({ memory, model }: Pick<AgentDefinition, 'model' | 'memory'>): MemoryRules {
    const { maxMessages = DEFAULT_MESSAGES, maxContextTokens = defaultContextTokens(this.namesOf({ model })) } = memory;
    return { ...memory, maxMessages, maxContextTokens };
  }

  /** The models that may answer for an agent: its own, then its fallback models. */
  namesOf({ model }: Pick<AgentDefinition, 'model'>): Required<NamedModel>[] {
    if (this.own) return [this.own];
    const others =
      model.fallback ?? this.config.llm.resilience.fallback.map(({ provider, model: name }) => ({ provider, name }));
    return [model, ...others].map(({ provider, name }) => ({ provider, name: name ?? this.nameOf(provider) }));
  }

  /**
   * The model that a request names: of a provider that is known, or else of `provider`. Names may have colons, too.
   * @returns null when it is no name
   */
  parse(text: string, provider: string): { provider: string; name: string } | null {
    const [, first = '', rest = ''] = /^([^:]*):([^]*)$/.exec(text) ?? [];
    const named = this.stack.providers().includes(first) ? { provider: first, name: rest } : { provider, name: text };
    return NAME.test(named.name) ? named : null;
  }

  /**
   * Refuses a model that a request names and may not.
   * @param agent whose model it has anyway
   * @throws AppError `MODEL_NOT_ALLOWED`
   */
  assertAllowed(model: NamedModel, agent: Pick<AgentDefinitionInput, 'model' | 'budgets'>): void {
    assertAllowed(model, agent, this.config.llm);
  }

  /** The name of a provider's default model; empty where the provider is not there. */
  private nameOf(provider: string): string {
    try {
      return this.create({ model: { provider, parameters: {}, fallback: [] } }).name;
    } catch {
      return '';
    }
  }

  /** Requests may name ever others: those that were made first go. */
  private keep(key: string, model: ChatModel): void {
    this.models.set(key, model);
    const [oldest] = this.models.keys();
    if (this.models.size > MAX_MODELS && oldest !== undefined) this.models.delete(oldest);
  }

  private make({ provider, name, capabilities, fallback, maxAttempts }: AgentDefinition['model']): ChatModel {
    const others = fallback?.map((one) => ({ provider: one.provider, model: one.name }));
    return this.stack.create(
      { ...this.settingsOf({ provider, model: name }), ...(capabilities && { capabilities }) },
      (others ?? this.config.llm.resilience.fallback).map((one) => this.settingsOf(one)),
      { maxAttempts },
    );
  }

  private settingsOf({ provider, model }: ModelChoice): ModelSettings {
    const { llm } = this.config;
    // A provider of an application's own is not among them, and knows its key itself.
    const access: Partial<Record<string, ProviderAccess>> = llm.access;
    const { idleTimeoutMs, totalTimeoutMs } = llm.resilience;
    return {
      provider,
      timeoutMs: llm.timeoutMs,
      ...(idleTimeoutMs !== undefined && { idleMs: idleTimeoutMs }),
      ...(totalTimeoutMs > 0 && { totalMs: totalTimeoutMs }),
      ...(model !== undefined && { model }),
      ...access[provider],
    };
  }
}
