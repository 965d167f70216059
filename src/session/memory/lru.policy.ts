import { MemoryPolicy, newestWithin, TurnBudget } from './memory-policy.js';
import type { MemoryRules, TurnSize } from './memory.types.js';

/** The most recently pinned, referenced or added turns; if one does not fit, others may. */
export class LruPolicy extends MemoryPolicy {
  readonly name = 'lru';
  override readonly readsOn = true;

  /** Reads newest turns up to twice the limits, so that others can replace a turn that does not fit. */
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

  /** One group for each turn, so that others can replace a turn that does not fit. */
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
