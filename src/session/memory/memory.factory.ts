import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '../../kernel/index.js';
import { agentConfig, type AgentConfig } from '../../config/namespaces/index.js';
import { TokenCounterRegistry } from '../../llm/index.js';
import { ConversationStore } from './conversation.store.js';
import { MemoryPolicyRegistry } from './session-memory.js';
import type { Memory } from './memory.js';
import type { MemoryRules } from './memory.types.js';
import { TurnMemory } from './turn-memory.js';

/** Default limits of an in-memory conversation, unless the environment or the program sets others. */
const SEED_LIMITS = { maxMessages: 50, maxContextTokens: 4000 };

/** Creates in-memory conversations. */
@Injectable()
export class MemoryFactory {
  constructor(
    private readonly conversations: ConversationStore,
    private readonly policies: MemoryPolicyRegistry,
    private readonly counters: TokenCounterRegistry,
    @Inject(agentConfig.KEY) private readonly config: AgentConfig,
  ) {}

  /**
   * @param principal owner of the sessions that it restores and persists
   * @param rules overrides of `AGENT_MEMORY_…`; a summarising policy only omits turns, since no model is called here
   * @param model model whose tokens are counted; an estimate by default
   * @throws AppError `MEMORY_POLICY_INVALID`
   */
  async create(principal: Principal, rules: Partial<MemoryRules> = {}, model = ''): Promise<Memory> {
    const all = { ...SEED_LIMITS, ...this.config.memory, ...rules };
    const policy = this.policies.get(all.policy);
    return new TurnMemory(this.conversations, {
      principal,
      rules: all,
      policy,
      counter: await this.counters.of(model),
    });
  }
}
