import type { StoredTurn } from '../session.types.js';
import { ASSISTANT_BEGAN } from './history-repair.policy.js';
import type { MemoryPolicy, TurnGroup } from './memory-policy.js';
import type { MemoryRules } from './memory.types.js';
import { seenOf, sizeOf } from './recollection.mapper.js';
import { withCut, type TextCut, type TurnCut } from './turn-cut.mapper.js';
import {
  cutToTokens,
  shortenTurn,
  toQuestionAndAnswer,
  type CountTokens,
  type ShortenedTurn,
  type TurnLimits,
} from './turn-shortening.policy.js';

/** Of both limits, the share that system messages of the past may take. */
const INSTRUCTION_SHARE = 0.25;
/** Fewer tokens than this hold no further turn. */
const LEAST_ROOM = 32;

/** What a run is given of the turns that were read. */
export interface Selection {
  /** Turns of which anything is given, ascending. */
  readonly turns: readonly number[];
  /** Of them, those of which more than system messages is given. */
  readonly seen: ReadonlySet<number>;
  readonly cuts: readonly TurnCut[];
  readonly tokens: number;
  /** Whether older turns, which were not read, would find room. */
  readonly hasRoom: boolean;
}

/** A turn's messages as they would be given whole. */
interface TurnView extends ReturnType<typeof seenOf> {
  readonly turn: StoredTurn;
  /** Indexes of its system messages, and of the others. */
  readonly instructions: readonly number[];
  readonly said: readonly number[];
  /** Of the others. */
  readonly tokens: number;
}

interface Room {
  messages: number;
  tokens: number;
}

/** What is taken before turns are chosen. */
export interface Reserved extends TurnLimits {
  /** Turns up to this one give their system messages only: a summary covers them. */
  readonly through: number;
}

export const NOTHING_RESERVED: Reserved = { messages: 0, tokens: 0, through: 0 };

/**
 * Distributes the budget: system messages first, then the newest turn, which is always given, then older turns in the
 * policy's order. Tokens of whole turns are those that were stored with them.
 */
export class TurnSelection {
  private readonly views = new Map<number, TurnView>();

  constructor(
    private readonly rules: MemoryRules,
    private readonly policy: MemoryPolicy,
    private readonly count: CountTokens,
  ) {}

  /**
   * @param turns what was read, oldest first
   * @param required numbers of turns that are given in any case; the newest one that says anything when left out
   */
  select(turns: readonly StoredTurn[], reserved: Reserved, required?: readonly number[]): Selection {
    const views = turns.map((turn) => this.viewOf(turn));
    const candidates = views.filter(({ turn, said }) => said.length > 0 && turn.turn > reserved.through);
    const taken = new Map<number, ShortenedTurn | null>();
    const { maxMessages, maxContextTokens, enabled } = this.rules;
    const isOn = enabled && maxContextTokens > 0 && (maxMessages > 0 || !this.policy.countsMessages);
    const most = this.policy.countsMessages ? maxMessages : Infinity;
    const instructions = this.instructionsOf(views, isOn ? { messages: most, tokens: maxContextTokens } : null);
    if (!isOn) return this.build(views, instructions, taken, false);
    const start = candidates.some(({ messages, said }) => messages[said[0]!]!.role !== 'user');
    const room: Room = {
      messages: most - reserved.messages - instructions.kept.size - (start ? 1 : 0),
      tokens: maxContextTokens - reserved.tokens - instructions.tokens - (start ? this.count([ASSISTANT_BEGAN]) : 0),
    };
    const newest = candidates.at(-1);
    const first = required ?? (newest ? [newest.turn.turn] : []);
    this.takeRequired(
      candidates.filter(({ turn }) => first.includes(turn.turn)),
      room,
      taken,
    );
    const older = candidates.filter(({ turn }) => !taken.has(turn.turn));
    const sizes = older.map(({ turn }) => sizeOf(turn, this.rules));
    for (const group of this.policy.order(sizes, this.rules)) this.takeGroup(group, room, taken);
    const isAll = candidates.every(({ turn }) => taken.has(turn.turn));
    const isCut = [...taken.values()].some((cut) => cut !== null);
    const hasRoom = isAll && isCut && room.messages >= 2 && room.tokens >= LEAST_ROOM;
    return this.build(views, instructions, taken, hasRoom);
  }

  /** Newest last; each leaves at least an equal share to those before it. */
  private takeRequired(views: readonly TurnView[], room: Room, taken: Map<number, ShortenedTurn | null>): void {
    for (const [at, view] of views.toReversed().entries()) {
      const shares = views.length - at;
      const limits = { messages: Math.floor(room.messages / shares), tokens: Math.floor(room.tokens / shares) };
      const rest = views.slice(0, shares - 1).reduce((sum, one) => sum + one.tokens, 0);
      const most = { ...limits, tokens: Math.max(limits.tokens, room.tokens - rest) };
      if (fits(view.said.length, view.tokens, most)) this.take(view, null, room, taken);
      else this.take(view, shortenTurn(view.messages, view.said, most, this.count), room, taken);
    }
  }

  private takeGroup(group: TurnGroup, room: Room, taken: Map<number, ShortenedTurn | null>): void {
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

  /** The turn as question and answer; undefined when that does not fit either. */
  private reduced(view: TurnView, limits: TurnLimits): ShortenedTurn | undefined {
    if (limits.messages < 1 || limits.tokens < LEAST_ROOM / 4) return undefined;
    const cut = toQuestionAndAnswer(view.messages, view.said, this.count);
    const isLess = cut.messages < view.said.length || cut.bare.length > 0;
    return isLess && fits(cut.messages, cut.tokens, limits) ? cut : undefined;
  }

  private take(view: TurnView, cut: ShortenedTurn | null, room: Room, taken: Map<number, ShortenedTurn | null>): void {
    taken.set(view.turn.turn, cut);
    room.messages -= cut?.messages ?? view.said.length;
    room.tokens -= cut?.tokens ?? view.tokens;
  }

  /** The newest system messages; one that does not fit is shortened, and those before it are left out. */
  private instructionsOf(views: readonly TurnView[], limits: TurnLimits | null) {
    const kept = new Set<string>();
    const texts = new Map<string, TextCut>();
    let tokens = 0;
    const most = {
      messages: limits ? Math.ceil(limits.messages * INSTRUCTION_SHARE) : Infinity,
      tokens: limits ? Math.floor(limits.tokens * INSTRUCTION_SHARE) : Infinity,
    };
    for (const { turn, instructions, messages } of views.toReversed()) {
      for (const at of instructions.toReversed()) {
        if (kept.size >= most.messages || tokens >= most.tokens) break;
        const whole = this.count([messages[at]!]);
        const cut =
          tokens + whole <= most.tokens ? null : cutToTokens(messages[at]!, at, most.tokens - tokens, this.count);
        if (!cut && tokens + whole > most.tokens) return { kept, texts, tokens };
        const key = `${turn.turn}:${at}`;
        kept.add(key);
        if (cut) texts.set(key, cut);
        tokens += cut ? this.count([withCut(messages[at]!, cut)]) : whole;
      }
    }
    return { kept, texts, tokens };
  }

  private build(
    views: readonly TurnView[],
    instructions: ReturnType<TurnSelection['instructionsOf']>,
    taken: ReadonlyMap<number, ShortenedTurn | null>,
    hasRoom: boolean,
  ): Selection {
    const cuts: TurnCut[] = [];
    const turns: number[] = [];
    let { tokens } = instructions;
    for (const { turn, messages, said, instructions: system, tokens: whole } of views) {
      const isTaken = taken.has(turn.turn);
      const cut = taken.get(turn.turn) ?? null;
      const keyed = system.map((at) => ({ at, key: `${turn.turn}:${at}` }));
      const given = keyed.filter(({ key }) => instructions.kept.has(key));
      const kept = [...given.map(({ at }) => at), ...(isTaken ? (cut?.kept ?? said) : [])].toSorted((a, b) => a - b);
      const texts = [...given.flatMap(({ key }) => instructions.texts.get(key) ?? []), ...(cut?.texts ?? [])];
      if (isTaken) tokens += cut?.tokens ?? whole;
      if (kept.length === 0 && !isTaken) continue;
      turns.push(turn.turn);
      const isWhole = kept.length === messages.length && texts.length === 0 && !cut?.bare.length;
      if (isWhole) continue;
      cuts.push({
        turn: turn.turn,
        form: isTaken ? (cut?.form ?? 'shortened') : 'instructions',
        kept,
        ...(texts.length > 0 && { texts }),
        ...(cut?.bare.length && { bare: cut.bare }),
      });
    }
    return { turns, seen: new Set(taken.keys()), cuts, tokens, hasRoom };
  }

  private viewOf(turn: StoredTurn): TurnView {
    const known = this.views.get(turn.turn);
    if (known) return known;
    const view = seenOf(turn, this.rules);
    const [instructions, said]: [number[], number[]] = [[], []];
    for (const [at, { role }] of view.messages.entries()) (role === 'system' ? instructions : said).push(at);
    const stored = this.rules.includeToolCalls ? turn.tokens : turn.plainTokens;
    // Turns of old versions, and those of other programs, were stored without their tokens.
    const isCounted = stored > 0 && instructions.length === 0 && !view.isRepaired;
    const tokens = isCounted ? stored : this.count(said.map((at) => view.messages[at]!));
    const made = { ...view, turn, instructions, said, tokens };
    this.views.set(turn.turn, made);
    return made;
  }
}

function fits(messages: number, tokens: number, limits: TurnLimits): boolean {
  return messages <= limits.messages && tokens <= limits.tokens;
}
