import { MemoryPolicy, newestFirst, newestWithin, TurnBudget } from './memory-policy.js';
import type { MemoryRules, TurnSize } from './memory.types.js';

/** Minimum tokens of a turn: the overhead of a message in chat formats, and a word. */
const LEAST_TOKENS = 4;

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
    let count = 0;
    for (const turn of turns) {
      count += turn.messages;
      if (count > keepFirst || !budget.take(turn)) break;
    }
    budget.takeNewest(turns);
    return [...budget.taken];
  }

  override order(turns: readonly TurnSize[], { keepFirst }: MemoryRules) {
    return [{ turns: turns.map(({ turn }) => turn), maxMessages: keepFirst }, newestFirst(turns)];
  }
}

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

/** The newest turns, after a summary of all earlier turns. */
export class SummaryPolicy extends SlidingWindowPolicy {
  override readonly name = 'summary';
  override readonly summarises = true;
}

function byUse(turns: readonly TurnSize[]): TurnSize[] {
  return turns.toSorted((a, b) => lastUse(b) - lastUse(a) || b.turn - a.turn);
}

function lastUse({ turn, mark }: TurnSize): number {
  return Math.max(turn, mark ?? 0);
}
