import type { TurnQuery } from '../turns/turn-store.js';
import type { MemoryRules, TurnSize } from './memory.types.js';

/** Turns that use the budget one after the other, until one does not fit even as question and answer. */
export interface TurnGroup {
  readonly turns: readonly number[];
  /** Maximum messages of the group. */
  readonly maxMessages?: number;
}

/**
 * The port to a memory policy: it selects the turns that a run sees. The newest turn is always included, shortened if
 * necessary; others are included completely, as question and answer, or not at all.
 */
export abstract class MemoryPolicy {
  /** The value of an agent's `memory.policy`. */
  abstract readonly name: string;
  /** Whether the turns alone determine the choice; otherwise each run records its choice. */
  readonly isStable: boolean = false;
  /** Whether a model summarises the omitted turns. */
  readonly summarises: boolean = false;
  /** Whether `maxMessages` applies. */
  readonly countsMessages: boolean = true;
  /** Whether turns before those of `query` are read if shortened turns leave room. */
  readonly readsOn: boolean = false;

  /** The turns to choose from; its limits bound the cost for sessions of any length. */
  abstract query(rules: MemoryRules): Omit<TurnQuery, 'through'>;

  /**
   * @param turns the turns that were read, oldest first @returns the numbers of the selected turns, within the limits
   * of the rules
   */
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

/** The query for the newest turns within both limits; a turn has at least one message. */
export function newestWithin({ maxMessages, maxContextTokens, includeToolCalls }: MemoryRules) {
  return { newest: maxMessages, maxMessages, maxTokens: maxContextTokens, isPlain: !includeToolCalls };
}

/** Takes turns while they fit, one after the other. */
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

  /** Takes the newest turns until one does not fit. @param turns oldest first */
  takeNewest(turns: readonly TurnSize[]): void {
    for (const turn of turns.toReversed()) if (!this.take(turn)) return;
  }
}
