import { MemoryPolicy, newestWithin, TurnBudget } from './memory-policy.js';
import type { MemoryRules, TurnSize } from './memory.types.js';

/** The turns that were pinned, referred to or said most recently; one that does not fit leaves its place to others. */
export class LruPolicy extends MemoryPolicy {
  readonly name = 'lru';
  override readonly readsOn = true;

  /** Of the newest ones twice as much as fits: there are others where one leaves its place. */
  query(rules: MemoryRules) {
    const { maxMessages, maxContextTokens } = rules;
    const twice = { ...rules, maxMessages: 2 * maxMessages, maxContextTokens: 2 * maxContextTokens };
    return { ...newestWithin(twice), marked: maxMessages };
  }

  choose(turns: readonly TurnSize[], { maxMessages, maxContextTokens }: MemoryRules): readonly number[] {
    const budget = new TurnBudget(maxMessages, maxContextTokens);
    for (const turn of byUse(turns)) budget.take(turn);
    return [...budget.taken];
  }

  /** Each by itself: one that does not fit leaves its place to others. */
  override order(turns: readonly TurnSize[]) {
    return byUse(turns).map(({ turn }) => ({ turns: [turn] }));
  }
}

function byUse(turns: readonly TurnSize[]): TurnSize[] {
  return turns.toSorted((a, b) => lastUse(b) - lastUse(a) || b.turn - a.turn);
}

function lastUse({ turn, mark }: TurnSize): number {
  return Math.max(turn, mark ?? 0);
}
