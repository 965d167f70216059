import type { StoredTurn } from '../session.types.js';
import { ASSISTANT_BEGAN } from './history-repair.policy.js';
import type { MemoryPolicy, TurnGroup } from './memory-policy.js';
import type { MemoryRules } from './memory.types.js';
import { type SeenMessages, seenOf, sizeOf } from './recollection.mapper.js';
import { withCut, type TextCut, type TurnCut } from './turn-cut.mapper.js';
import {
  cutToTokens,
  shortenTurn,
  toQuestionAndAnswer,
  type CountTokens,
  type ShortenedTurn,
  type TurnLimits,
} from './turn-shortening.policy.js';

/** Share of both limits for system messages of earlier turns. */
const INSTRUCTION_SHARE = 0.25;
/** Minimum free tokens for a further turn. */
const LEAST_ROOM = 32;

/** The selected part of the turns that were read. */
export interface Selection {
  /** Turns with at least one selected message, ascending. */
  readonly turns: readonly number[];
  /** Those of them with more than system messages. */
  readonly seen: ReadonlySet<number>;
  readonly cuts: readonly TurnCut[];
  readonly tokens: number;
  /** Whether older turns, which were not read, would fit. */
  readonly hasRoom: boolean;
}

/** A turn's messages before cuts. */
interface TurnView extends SeenMessages {
  readonly turn: StoredTurn;
  /** Indexes of its system messages, and of the others. */
  readonly instructions: readonly number[];
  readonly said: readonly number[];
  /** Tokens of the other messages. */
  readonly tokens: number;
}

interface TurnPart {
  readonly turn: number;
  readonly tokens: number;
  readonly cut: TurnCut | null;
}

interface Room {
  messages: number;
  tokens: number;
}

/** Selected turns with their cuts; null for a complete turn. */
type Taken = Map<number, ShortenedTurn | null>;

interface Instructions {
  /** The selected system messages, by turn and index, with their cuts. */
  readonly kept: ReadonlyMap<string, TextCut | null>;
  readonly tokens: number;
}

const NOTHING: ShortenedTurn = { form: 'shortened', kept: [], texts: [], bare: [], messages: 0, tokens: 0 };
const NO_CONVERSATION = { ...NOTHING, form: 'instructions' } as const;

/** The part of the limits in use before turns are selected. */
export interface Reserved extends TurnLimits {
  /** Of turns up to this one only system messages are selected: a summary covers the rest. */
  readonly through: number;
}

export const NOTHING_RESERVED: Reserved = { messages: 0, tokens: 0, through: 0 };

/**
 * Distributes the budget: system messages first, then the newest turn, which is always included, then older turns in
 * the policy's order. Complete turns use their stored token counts.
 */
export class TurnSelection {
  private readonly views = new Map<number, TurnView>();

  constructor(
    private readonly rules: MemoryRules,
    private readonly policy: MemoryPolicy,
    private readonly count: CountTokens,
  ) {}

  /**
   * @param turns the turns that were read, oldest first
   * @param required numbers of turns that are always included; by default the newest turn with content
   */
  select(turns: readonly StoredTurn[], reserved: Reserved, required?: readonly number[]): Selection {
    const views = turns.map((turn) => this.viewOf(turn));
    const candidates = views.filter(({ turn, said }) => said.length > 0 && turn.turn > reserved.through);
    const limits = this.limits();
    const instructions = this.instructionsOf(views, limits);
    const taken: Taken = new Map();
    if (limits) {
      const first = required ?? candidates.slice(-1).map(({ turn }) => turn.turn);
      const room = this.roomIn(limits, reserved, instructions, candidates);
      this.takeRequired(
        candidates.filter(({ turn }) => first.includes(turn.turn)),
        room,
        taken,
      );
      const older = candidates.filter(({ turn }) => !taken.has(turn.turn));
      const sizes = older.map(({ turn }) => sizeOf(turn, this.rules));
      for (const group of this.policy.order(sizes, this.rules)) this.takeGroup(group, room, taken);
      return this.build(views, instructions, taken, hasRoomFor(candidates, room, taken));
    }
    return this.build(views, instructions, taken, false);
  }

  /** Null if only system messages are selected. */
  private limits(): TurnLimits | null {
    const { maxMessages, maxContextTokens: tokens, enabled } = this.rules;
    const messages = this.policy.countsMessages ? maxMessages : Infinity;
    return enabled && tokens > 0 && messages > 0 ? { messages, tokens } : null;
  }

  private roomIn(
    limits: TurnLimits,
    reserved: Reserved,
    { kept, tokens }: Instructions,
    candidates: readonly TurnView[],
  ): Room {
    // A note may be inserted before a leading assistant message.
    const mayBegin = candidates.some(({ messages, said }) => messages[said[0]!]!.role !== 'user');
    const word = mayBegin ? { messages: 1, tokens: this.count([ASSISTANT_BEGAN]) } : { messages: 0, tokens: 0 };
    return {
      messages: limits.messages - reserved.messages - kept.size - word.messages,
      tokens: limits.tokens - reserved.tokens - tokens - word.tokens,
    };
  }

  /** Takes the newest turns first; each leaves at least an equal share to the older ones. */
  private takeRequired(views: readonly TurnView[], room: Room, taken: Taken): void {
    for (const [at, view] of views.toReversed().entries()) {
      const shares = views.length - at;
      const limits = { messages: Math.floor(room.messages / shares), tokens: Math.floor(room.tokens / shares) };
      const rest = views.slice(0, shares - 1).reduce((sum, one) => sum + one.tokens, 0);
      const most = { ...limits, tokens: Math.max(limits.tokens, room.tokens - rest) };
      if (fits(view.said.length, view.tokens, most)) this.take(view, null, room, taken);
      else this.take(view, shortenTurn(view.messages, view.said, most, this.count), room, taken);
    }
  }

  private takeGroup(group: TurnGroup, room: Room, taken: Taken): void {
    let left = group.maxMessages ?? Infinity;
    for (const number of group.turns) {
      const view = this.views.get(number);
      if (!view || taken.has(number)) continue;
      const limits = { messages: Math.min(room.messages, left), tokens: room.tokens };
      const cut = fits(view.said.length, view.tokens, limits) ? null : this.reduced(view, limits);
      if (cut === undefined) return;
      this.take(view, cut, room, taken);
      left -= cut?.messages ?? view.said.length;
    }
  }

  /** The turn as question and answer; undefined if that does not fit either. */
  private reduced(view: TurnView, limits: TurnLimits): ShortenedTurn | undefined {
    if (limits.messages < 1 || limits.tokens < LEAST_ROOM / 4) return undefined;
    const cut = toQuestionAndAnswer(view.messages, view.said, this.count);
    const isLess = cut.messages < view.said.length || cut.bare.length > 0;
    return isLess && fits(cut.messages, cut.tokens, limits) ? cut : undefined;
  }

  private take(view: TurnView, cut: ShortenedTurn | null, room: Room, taken: Taken): void {
    taken.set(view.turn.turn, cut);
    room.messages -= cut?.messages ?? view.said.length;
    room.tokens -= cut?.tokens ?? view.tokens;
  }

  /** The newest system messages; one that does not fit is shortened, and older ones are omitted. */
  private instructionsOf(views: readonly TurnView[], limits: TurnLimits | null): Instructions {
    const kept = new Map<string, TextCut | null>();
    const most = limits ? Math.ceil(limits.messages * INSTRUCTION_SHARE) : Infinity;
    let room = limits ? Math.floor(limits.tokens * INSTRUCTION_SHARE) : Infinity;
    let tokens = 0;
    const all = views.flatMap((view) => view.instructions.map((at) => ({ view, at })));
    for (const { view, at } of all.toReversed().slice(0, most)) {
      const message = view.messages[at]!;
      const isWhole = this.count([message]) <= room;
      const cut = isWhole ? null : cutToTokens(message, at, room, this.count);
      if (!isWhole && !cut) break;
      kept.set(keyOf(view, at), cut);
      const taken = this.count([cut ? withCut(message, cut) : message]);
      tokens += taken;
      room -= taken;
    }
    return { kept, tokens };
  }

  private build(views: readonly TurnView[], instructions: Instructions, taken: Taken, hasRoom: boolean): Selection {
    const parts = views.flatMap((view) => this.partOf(view, instructions, taken) ?? []);
    return {
      turns: parts.map(({ turn }) => turn),
      seen: new Set(taken.keys()),
      cuts: parts.flatMap(({ cut }) => cut ?? []),
      tokens: parts.reduce((sum, { tokens }) => sum + tokens, instructions.tokens),
      hasRoom,
    };
  }

  /** The selected part of a turn, with a null cut if it is the whole turn; null without a selected message. */
  private partOf(view: TurnView, instructions: Instructions, taken: Taken): TurnPart | null {
    const { turn } = view.turn;
    const chosen = taken.get(turn);
    if (chosen === null && view.instructions.length === 0) return { turn, tokens: view.tokens, cut: null };
    const system = view.instructions.filter((at) => instructions.kept.has(keyOf(view, at)));
    if (chosen === undefined && system.length === 0) return null;
    const conversation = chosen === undefined ? NO_CONVERSATION : (chosen ?? wholeOf(view));
    const kept = [...system, ...conversation.kept].toSorted((a, b) => a - b);
    const texts = [...system.flatMap((at) => instructions.kept.get(keyOf(view, at)) ?? []), ...conversation.texts];
    const cut = cutOfTurn(turn, { ...conversation, kept, texts });
    const isWhole = kept.length === view.messages.length && !cut.texts && !cut.bare;
    return { turn, tokens: conversation.tokens, cut: isWhole ? null : cut };
  }

  /** The view of a turn under the rules; the same object for the same turn. */
  viewOf(turn: StoredTurn): TurnView {
    const known = this.views.get(turn.turn);
    if (known) return known;
    const { messages, isRepaired } = seenOf(turn, this.rules);
    const [instructions, said]: [number[], number[]] = [[], []];
    for (const [at, { role }] of messages.entries()) (role === 'system' ? instructions : said).push(at);
    const stored = this.rules.includeToolCalls ? turn.tokens : turn.plainTokens;
    // Earlier versions and other programs stored turns without token counts.
    const isCounted = stored > 0 && instructions.length === 0 && !isRepaired;
    const tokens = isCounted ? stored : this.count(said.map((at) => messages[at]!));
    const made = { messages, isRepaired, turn, instructions, said, tokens };
    this.views.set(turn.turn, made);
    return made;
  }
}

/** Whether all turns that were read are included and at least one is shortened, so that older turns may fit. */
function hasRoomFor(candidates: readonly TurnView[], room: Room, taken: Taken): boolean {
  const isAll = candidates.every(({ turn }) => taken.has(turn.turn));
  const isCut = [...taken.values()].some((cut) => cut !== null);
  return isAll && isCut && room.messages >= 2 && room.tokens >= LEAST_ROOM;
}

function wholeOf({ said, tokens }: TurnView): ShortenedTurn {
  return { ...NOTHING, kept: said, messages: said.length, tokens };
}

function cutOfTurn(
  turn: number,
  { form, kept, texts, bare }: Omit<ShortenedTurn, 'form' | 'messages' | 'tokens'> & Pick<TurnCut, 'form'>,
): TurnCut {
  return { turn, form, kept, ...(texts.length > 0 && { texts }), ...(bare.length > 0 && { bare }) };
}

function keyOf({ turn }: TurnView, at: number): string {
  return `${turn.turn}:${at}`;
}

function fits(messages: number, tokens: number, limits: TurnLimits): boolean {
  return messages <= limits.messages && tokens <= limits.tokens;
}
