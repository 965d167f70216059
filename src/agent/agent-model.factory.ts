import { Injectable, Optional } from '@nestjs/common';
import { AppConfig, type ProviderAccess } from '../config/index.js';
import { ChatModel, ModelRegistry } from '../llm/index.js';
import type { AgentDefinition } from './agent-definition.schema.js';

/** The chat model of an agent, made once for agents that have the same one. */
@Injectable()
export class AgentModelFactory {
  private readonly models = new Map<string, ChatModel>();

  constructor(
    private readonly registry: ModelRegistry,
    private readonly config: AppConfig,
    /** Takes the place of every provider: an application's own model. */
    @Optional() private readonly own?: ChatModel,
  ) {}

  /** @throws AppError `CONFIG_INVALID` when the provider is unknown or lacks its key */
  create({ model }: AgentDefinition): ChatModel {
    if (this.own) return this.own;
    const key = JSON.stringify([model.provider, model.name]);
    let made = this.models.get(key);
    if (!made) this.models.set(key, (made = this.make(model)));
    return made;
  }

  private make({ provider, name }: AgentDefinition['model']): ChatModel {
    const { llm } = this.config;
    // A provider of an application's own is not among them, and knows its key itself.
    const access: Partial<Record<string, ProviderAccess>> = llm.access;
    return this.registry.create({
      provider,
      timeoutMs: llm.timeoutMs,
      ...(name !== undefined && { model: name }),
      ...access[provider],
    });
  }
}
