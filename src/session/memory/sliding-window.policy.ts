import { MemoryPolicy, newestFirst, newestWithin, TurnBudget } from './memory-policy.js';
import type { MemoryRules, TurnSize } from './memory.types.js';

/** The newest turns within both limits. */
export class SlidingWindowPolicy extends MemoryPolicy {
  readonly name: string = 'sliding_window';
  override readonly isStable = true;
  override readonly readsOn = true;

  query(rules: MemoryRules) {
    return newestWithin(rules);
  }

  choose(turns: readonly TurnSize[], { maxMessages, maxContextTokens }: MemoryRules): readonly number[] {
    const budget = new TurnBudget(maxMessages, maxContextTokens);
    budget.takeNewest(turns);
    return [...budget.taken];
  }

  override order(turns: readonly TurnSize[]) {
    return [newestFirst(turns)];
  }
}
