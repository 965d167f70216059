import { MemoryPolicy, newestFirst, newestWithin, TurnBudget } from './memory-policy.js';
import type { MemoryRules, TurnSize } from './memory.types.js';

/** The first turns, up to `keepFirst` messages, always stay visible; the newest turns get the rest of the limits. */
export class FixedWindowPolicy extends MemoryPolicy {
  readonly name = 'fixed_window';
  override readonly isStable = true;
  override readonly readsOn = true;

  query(rules: MemoryRules) {
    return { ...newestWithin(rules), first: rules.keepFirst };
  }

  choose(turns: readonly TurnSize[], { maxMessages, maxContextTokens, keepFirst }: MemoryRules): readonly number[] {
    const budget = new TurnBudget(maxMessages, maxContextTokens);
    let kept = 0;
    for (const turn of turns) {
      kept += turn.messages;
      if (kept > keepFirst || !budget.take(turn)) break;
    }
    budget.takeNewest(turns);
    return [...budget.taken];
  }

  override order(turns: readonly TurnSize[], { keepFirst }: MemoryRules) {
    return [{ turns: turns.map(({ turn }) => turn), maxMessages: keepFirst }, newestFirst(turns)];
  }
}
