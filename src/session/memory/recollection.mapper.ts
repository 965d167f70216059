import type { SessionMessage, StoredTurn } from '../session.types.js';
import { ASSISTANT_BEGAN, repairTurn, withoutBlanks } from './history-repair.policy.js';
import type { MemoryPlace, MemoryRules, Recollection, Summary, TurnSize } from './memory.types.js';
import { toPlainTurn } from './plain-turn.mapper.js';

/** What is seen of the turns that were read. */
export interface Choice {
  readonly seen: ReadonlySet<number>;
  readonly summary: Summary | null;
}

/** A turn as a policy sees it. */
export function sizeOf(turn: StoredTurn, { includeToolCalls }: MemoryRules): TurnSize {
  return {
    turn: turn.turn,
    messages: turn.messages.length,
    tokens: includeToolCalls ? turn.tokens : turn.plainTokens,
    mark: turn.mark,
  };
}

/** The chosen turns as messages that every provider takes, and of the others what system messages say. */
export function recollect(
  place: MemoryPlace,
  turns: readonly StoredTurn[],
  { seen, summary }: Choice,
  rules: MemoryRules,
): Recollection {
  const messages: SessionMessage[] = summary ? [toMessage(summary)] : [];
  const repaired: number[] = [];
  let [tokens, given] = [summary?.tokens ?? 0, 0];
  for (const turn of turns) {
    if (!seen.has(turn.turn)) {
      const system = withoutBlanks(turn.messages.filter(({ role }) => role === 'system'));
      messages.push(...system);
      given += system.length;
      continue;
    }
    const view = seenOf(turn, rules);
    if (view.isRepaired) repaired.push(turn.turn);
    messages.push(...view.messages);
    given += view.messages.length;
    tokens += rules.includeToolCalls ? turn.tokens : turn.plainTokens;
  }
  const state = {
    message_count: place.messageCount,
    context_tokens: tokens,
    dropped: Math.max(place.messageCount - given, 0),
    policy: rules.enabled ? rules.policy : 'none',
  };
  return { place, messages: begunByUser(messages), state, repaired };
}

/** A turn's messages, mended and as far as the rules let them be seen. */
export function seenOf({ messages }: StoredTurn, { includeToolCalls }: MemoryRules) {
  const mended = repairTurn(messages);
  const seen = includeToolCalls ? mended : toPlainTurn(mended);
  return { messages: withoutBlanks(seen), isRepaired: mended !== messages };
}

function begunByUser(messages: readonly SessionMessage[]): readonly SessionMessage[] {
  const at = messages.findIndex(({ role }) => role !== 'system');
  return messages[at]?.role === 'assistant' ? messages.toSpliced(at, 0, ASSISTANT_BEGAN) : messages;
}

/** Data, as what it was made of: no instruction. */
function toMessage({ text }: Summary): SessionMessage {
  return { role: 'user', content: `Summary of our conversation so far:\n${text}` };
}
