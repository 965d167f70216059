import type { MemoryState, ReferenceState, ShortenedTurnState } from '../../run/event/index.js';
import { type DataFact, mergeFacts, storedFacts } from '../../run/facts/index.js';
import type { SessionMessage, StoredTurn } from '../session.types.js';
import { ASSISTANT_BEGAN, repairTurn, withoutBlanks } from './history-repair.policy.js';
import type {
  GivenPast,
  MemoryPlace,
  MemoryRules,
  Recollection,
  Summary,
  TurnRanges,
  TurnSize,
} from './memory.types.js';
import { applyCut, type TextCut, textOf, type TurnCut, withCut } from './turn-cut.mapper.js';

/** A turn without tool calls and their results. */
export function toPlainTurn(messages: readonly SessionMessage[]): SessionMessage[] {
  return messages.flatMap((message): SessionMessage[] => {
    if (message.role === 'tool') return [];
    if (message.role !== 'assistant' || !message.toolCalls) return [message];
    const { toolCalls: _calls, ...said } = message;
    return [said];
  });
}

const NOTHING_GIVEN: GivenPast = { turns: [], cuts: [], tokens: 0, maxMessages: 0, maxContextTokens: 0 };

/** The visible turns among those that were read. */
export interface Choice {
  readonly seen: ReadonlySet<number>;
  readonly summary: Summary | null;
}

/** A turn as a policy sees it: its size under the rules. */
export function sizeOf(turn: StoredTurn, { includeToolCalls }: MemoryRules): TurnSize {
  return {
    turn: turn.turn,
    messages: turn.messages.length,
    tokens: includeToolCalls ? turn.tokens : turn.plainTokens,
    mark: turn.mark,
  };
}

/** The chosen turns as messages valid for every provider, and the system messages of the other turns. */
export function recollect(
  place: MemoryPlace,
  turns: readonly StoredTurn[],
  { seen, summary }: Choice,
  rules: MemoryRules,
): Recollection {
  const messages: SessionMessage[] = summary ? [summaryMessage(summary)] : [];
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
  const runs = turns.filter(({ turn }) => seen.has(turn)).map(({ runId }) => runId);
  return { place, messages: startingWithUser(messages), runs, state, repaired };
}

/**
 * The turns of a place as messages valid for every provider, with the cuts that the place records.
 * @param viewOf as `seenOf`, for a caller that has the views already
 */
export function recollectPlace(
  place: MemoryPlace,
  turns: readonly StoredTurn[],
  rules: MemoryRules,
  viewOf: (turn: StoredTurn) => SeenMessages = (turn) => seenOf(turn, rules),
): Recollection {
  const { messageCount, summary, context = [], given = NOTHING_GIVEN } = place;
  const cuts = new Map(given.cuts.map((cut) => [cut.turn, cut]));
  const numbers = new Set(expandRanges(given.turns));
  const views = turns
    .filter(({ turn }) => numbers.has(turn))
    .map((stored) => {
      const { messages, isRepaired } = viewOf(stored);
      return { turn: stored.turn, runId: stored.runId, messages, isRepaired, cut: cuts.get(stored.turn) };
    });
  const messages = [
    ...context,
    ...views.flatMap((view) => (view.cut ? applyCut(view.messages, view.cut) : view.messages)),
  ];
  const shortened = views.flatMap((view) => shortenedState(view.cut, view.messages));
  const state: MemoryState = {
    message_count: messageCount,
    context_tokens: given.tokens,
    dropped: Math.max(messageCount - messages.length, 0),
    policy: rules.enabled ? rules.policy : 'none',
    ...(rules.enabled && { max_context_tokens: given.maxContextTokens }),
    ...(shortened.length > 0 && { shortened }),
  };
  const all = summary ? [toShownSummary(summary, given.summaryCut), ...messages] : messages;
  const repaired = views.filter(({ isRepaired }) => isRepaired).map(({ turn }) => turn);
  const runs = views.map(({ runId }) => runId);
  return { place, messages: startingWithUser(all), runs, state, repaired };
}

/** Facts of the data in the earlier messages that a run received. */
export function factsOfPlace(place: MemoryPlace): readonly DataFact[] {
  return mergeFacts(storedFacts(place), place.memoryFacts ?? []);
}

/** How much of an earlier turn a run received. */
export function referenceState({ given, summary }: MemoryPlace, turn: number): ReferenceState {
  const cut = given?.cuts.find((one) => one.turn === turn);
  if (expandRanges(given?.turns ?? []).includes(turn) && cut?.form !== 'instructions')
    return { turn, seen: cut ? 'shortened' : 'whole' };
  return { turn, seen: summary && turn <= summary.through ? 'summarised' : 'dropped' };
}

/** @param numbers ascending */
export function toRanges(numbers: readonly number[]): TurnRanges {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (first === last ? first : [first, last]));
}

export function expandRanges(ranges: TurnRanges): number[] {
  return ranges.flatMap((range) => {
    if (typeof range === 'number') return [range];
    const [first, last] = range;
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  });
}

/** A turn's messages, repaired and filtered by the rules. */
export interface SeenMessages {
  readonly messages: readonly SessionMessage[];
  readonly isRepaired: boolean;
}

/** The messages of a turn that a model receives, before cuts. */
export function seenOf({ messages }: Pick<StoredTurn, 'messages'>, { includeToolCalls }: MemoryRules): SeenMessages {
  const mended = repairTurn(messages);
  const seen = includeToolCalls ? mended : toPlainTurn(mended);
  return { messages: withoutBlanks(seen), isRepaired: mended !== messages };
}

function startingWithUser(messages: readonly SessionMessage[]): readonly SessionMessage[] {
  const at = messages.findIndex(({ role }) => role !== 'system');
  return messages[at]?.role === 'assistant' ? messages.toSpliced(at, 0, ASSISTANT_BEGAN) : messages;
}

/** A user message, since a summary is data, not an instruction. */
export function summaryMessage({ text }: Summary): SessionMessage {
  return { role: 'user', content: `Summary of our conversation so far:\n${text}` };
}

function toShownSummary(summary: Summary, cut: TextCut | undefined): SessionMessage {
  const message = summaryMessage(summary);
  return cut ? withCut(message, cut) : message;
}

function shortenedState(cut: TurnCut | undefined, messages: readonly SessionMessage[]): ShortenedTurnState[] {
  if (!cut || cut.form === 'instructions') return [];
  const { turn, form, kept, texts = [] } = cut;
  const omitted = texts.reduce((sum, { message, head, tail, note }) => {
    const said = messages[message];
    return note === '' || !said ? sum : sum + textOf(said).length - head - tail;
  }, 0);
  return [{ turn, form, dropped_messages: messages.length - kept.length, omitted_characters: omitted }];
}
