import { MemoryPolicy, newestWithin, TurnBudget } from './memory-policy.js';
import type { MemoryRules, TurnSize } from './memory.types.js';

/** The newest turns, as many as both limits allow. */
export class SlidingWindowPolicy extends MemoryPolicy {
  readonly name: string = 'sliding_window';
  override readonly isStable = true;

  query(rules: MemoryRules) {
    return newestWithin(rules);
  }

  choose(turns: readonly TurnSize[], { maxMessages, maxContextTokens }: MemoryRules): readonly number[] {
    const budget = new TurnBudget(maxMessages, maxContextTokens);
    budget.takeNewest(turns);
    return [...budget.taken];
  }
}
