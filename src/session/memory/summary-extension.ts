import { Injectable } from '@nestjs/common';
import type { SessionKey, StoredTurn } from '../session.types.js';
import { TurnStore } from '../turns/turn-store.js';
import type { MemoryRules, Summarise, Summary } from './memory.types.js';
import { seenOf } from './recollection.mapper.js';

/** Maximum number of turns that one summary adds. */
const MOST_SUMMARISED = 200;
/** Share of both limits that stays unsummarised, so that not every turn needs a new summary. */
const RETAINED_SHARE = 0.5;
/** Maximum tokens that one summary adds, as a multiple of the token limit. The next run continues with the rest. */
const SUMMARISED_TIMES = 4;
/** Lower bound of that maximum, in tokens. */
const LEAST_SUMMARISED = 8000;

export interface ExtensionRequest {
  readonly rules: MemoryRules;
  /** The turns that stay unsummarised within half of the limits. */
  readonly staying: (memoryRules: MemoryRules) => Promise<ReadonlySet<number>>;
  readonly summarise: Summarise;
}

/** Adds the oldest turns to a session's summary. */
@Injectable()
export class SummaryExtension {
  constructor(private readonly turns: TurnStore) {}

  /** Adds the oldest turns to the summary until the rest is well within the limits; `null` without a new summary. */
  async extend(
    key: SessionKey,
    former: Summary | null,
    { rules, staying, summarise }: ExtensionRequest,
  ): Promise<Summary | null> {
    const stay = await staying({
      ...rules,
      maxMessages: Math.floor(rules.maxMessages * RETAINED_SHARE),
      maxContextTokens: Math.floor(rules.maxContextTokens * RETAINED_SHARE),
    });
    const oldest = await this.turns.after(key, former?.through ?? 0, MOST_SUMMARISED);
    const taken = within(
      oldest.filter(({ turn }) => !stay.has(turn)),
      Math.max(rules.maxContextTokens * SUMMARISED_TIMES, LEAST_SUMMARISED),
    );
    const last = taken.at(-1);
    if (!last) return null;
    const messages = taken.flatMap((turn) => seenOf(turn, rules).messages);
    const made = await summarise(former?.text ?? null, messages);
    return made && { through: last.turn, text: made.text, tokens: made.tokens };
  }
}

/** The first turns up to a number of tokens; at least one. */
function within(turns: readonly StoredTurn[], maxTokens: number): readonly StoredTurn[] {
  let tokens = 0;
  return turns.filter((turn, at) => (tokens += turn.tokens) <= maxTokens || at === 0);
}
