import { Injectable } from '@nestjs/common';
import type { Principal } from '../../common/index.js';
import { AppConfig } from '../../config/index.js';
import { TokenCounterRegistry } from '../../llm/index.js';
import { ConversationStore } from './conversation.store.js';
import { MemoryPolicyRegistry } from './memory-policy.registry.js';
import type { Memory } from './memory.js';
import type { MemoryRules } from './memory.types.js';
import { TurnMemory } from './turn-memory.js';

/** The limits of a conversation in hand where neither the environment nor the program says any. */
const SEED_LIMITS = { maxMessages: 50, maxContextTokens: 4000 };

/** Makes conversations in hand. */
@Injectable()
export class MemoryFactory {
  constructor(
    private readonly conversations: ConversationStore,
    private readonly policies: MemoryPolicyRegistry,
    private readonly counters: TokenCounterRegistry,
    private readonly config: AppConfig,
  ) {}

  /**
   * @param principal whose sessions it comes from and goes to
   * @param rules where they differ from `AGENT_MEMORY_…`; a policy that sums up only leaves out, as no model is asked here
   * @param model whose tokens are counted; an estimate without one
   * @throws AppError `MEMORY_POLICY_INVALID`
   */
  async create(principal: Principal, rules: Partial<MemoryRules> = {}, model = ''): Promise<Memory> {
    const all = { ...SEED_LIMITS, ...this.config.agent.memory, ...rules };
    const policy = this.policies.get(all.policy);
    return new TurnMemory(this.conversations, {
      principal,
      rules: all,
      policy,
      counter: await this.counters.of(model),
    });
  }
}
