import { MemoryPolicy, newestWithin, TurnBudget } from './memory-policy.js';
import type { MemoryRules, TurnSize } from './memory.types.js';

/** The turns that were pinned, referred to or said most recently; one that does not fit leaves its place to others. */
export class LruPolicy extends MemoryPolicy {
  readonly name = 'lru';

  /** Of the newest ones twice as much as fits: there are others where one leaves its place. */
  query(rules: MemoryRules) {
    const { maxMessages, maxContextTokens } = rules;
    const twice = { ...rules, maxMessages: 2 * maxMessages, maxContextTokens: 2 * maxContextTokens };
    return { ...newestWithin(twice), marked: maxMessages };
  }

  choose(turns: readonly TurnSize[], { maxMessages, maxContextTokens }: MemoryRules): readonly number[] {
    const budget = new TurnBudget(maxMessages, maxContextTokens);
    const byUse = turns.toSorted((a, b) => lastUse(b) - lastUse(a) || b.turn - a.turn);
    for (const turn of byUse) budget.take(turn);
    return [...budget.taken];
  }
}

function lastUse({ turn, mark }: TurnSize): number {
  return Math.max(turn, mark ?? 0);
}
