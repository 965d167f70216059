import { MemoryPolicy, newestFirst, TurnBudget } from './memory-policy.js';
import type { MemoryRules, TurnSize } from './memory.types.js';

/** Minimum tokens of a turn: the overhead of a message in chat formats, and a word. */
const LEAST_TOKENS = 4;

/** The newest turns within the token limit, whatever their number of messages. */
export class TokenBudgetPolicy extends MemoryPolicy {
  readonly name = 'token_budget';
  override readonly isStable = true;
  override readonly readsOn = true;
  override readonly countsMessages = false;

  query({ maxContextTokens, includeToolCalls }: MemoryRules) {
    return {
      newest: Math.ceil(maxContextTokens / LEAST_TOKENS),
      maxTokens: maxContextTokens,
      isPlain: !includeToolCalls,
    };
  }

  choose(turns: readonly TurnSize[], { maxContextTokens }: MemoryRules): readonly number[] {
    const budget = new TurnBudget(Number.POSITIVE_INFINITY, maxContextTokens);
    budget.takeNewest(turns);
    return [...budget.taken];
  }

  override order(turns: readonly TurnSize[]) {
    return [newestFirst(turns)];
  }
}
