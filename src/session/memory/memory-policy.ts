import type { TurnQuery } from '../turns/turn-store.js';
import type { MemoryRules, TurnSize } from './memory.types.js';

/** Turns that take the budget one after the other, until one does not fit even as question and answer. */
export interface TurnGroup {
  readonly turns: readonly number[];
  /** The most messages that the group may take. */
  readonly maxMessages?: number;
}

/**
 * The port to a way of remembering: which turns a run sees. The newest turn is always seen, shortened if it must be;
 * the others are seen whole, as question and answer, or not at all.
 */
export abstract class MemoryPolicy {
  /** As in an agent's `memory.policy`. */
  abstract readonly name: string;
  /** Whether the choice follows from the turns alone; else each run records what was chosen for it. */
  readonly isStable: boolean = false;
  /** Whether a model makes a summary of what is not seen. */
  readonly summarises: boolean = false;
  /** Whether `maxMessages` limits it. */
  readonly countsMessages: boolean = true;
  /** Whether turns before those of `query` are read when shortened turns leave room for them. */
  readonly readsOn: boolean = false;

  /** What is read to choose from; its numbers bound what a look back costs, however long the session is. */
  abstract query(rules: MemoryRules): Omit<TurnQuery, 'through'>;

  /** @param turns what was read, oldest first @returns the numbers of those that are seen, at most as many as the rules allow */
  abstract choose(turns: readonly TurnSize[], rules: MemoryRules): readonly number[];

  /**
   * The order in which older turns get the rest of the budget after the newest turn. By default the turns that `choose`
   * returns, the newest first, each in a group of its own.
   * @param turns the turns that were read, oldest first, without the newest turn
   */
  order(turns: readonly TurnSize[], rules: MemoryRules): readonly TurnGroup[] {
    return this.choose(turns, rules)
      .toSorted((a, b) => b - a)
      .map((turn) => ({ turns: [turn] }));
  }
}

/** One group of all turns, the newest first. */
export function newestFirst(turns: readonly TurnSize[]): TurnGroup {
  return { turns: turns.map(({ turn }) => turn).toReversed() };
}

/** What reads the newest turns up to both limits; a turn has a message at least. */
export function newestWithin({ maxMessages, maxContextTokens, includeToolCalls }: MemoryRules) {
  return { newest: maxMessages, maxMessages, maxTokens: maxContextTokens, isPlain: !includeToolCalls };
}

/** Adds turns while they fit, one after the other. */
export class TurnBudget {
  private messages = 0;
  private tokens = 0;
  readonly taken = new Set<number>();

  constructor(
    private readonly maxMessages: number,
    private readonly maxTokens: number,
  ) {}

  /** @returns whether the turn is taken, now or before */
  take({ turn, messages, tokens }: TurnSize): boolean {
    if (this.taken.has(turn)) return true;
    if (this.messages + messages > this.maxMessages || this.tokens + tokens > this.maxTokens) return false;
    this.messages += messages;
    this.tokens += tokens;
    this.taken.add(turn);
    return true;
  }

  /** Takes the newest of the turns until one does not fit. @param turns oldest first */
  takeNewest(turns: readonly TurnSize[]): void {
    for (const turn of turns.toReversed()) if (!this.take(turn)) return;
  }
}
