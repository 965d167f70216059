import type { SessionMessage } from '../session.types.js';
import { applyCut, cutOf, textOf, withCut, type TextCut } from './turn-cut.mapper.js';

/** Counts the tokens of messages as the run's model does. */
export type CountTokens = (messages: readonly SessionMessage[]) => number;

/** Maximum size of a turn. */
export interface TurnLimits {
  readonly messages: number;
  readonly tokens: number;
}

/** A turn after shortening: indexes of the retained messages, cuts in their texts, and the resulting size. */
export interface ShortenedTurn {
  readonly form: 'shortened' | 'question_and_answer';
  readonly kept: readonly number[];
  readonly texts: readonly TextCut[];
  readonly bare: readonly number[];
  readonly messages: number;
  readonly tokens: number;
}

/** Minimum length of each result before rounds of calls are omitted, in UTF-16 units. */
const LEAST_RESULT = 400;
/** Minimum length of each user text before question and answer are shortened alike, in UTF-16 units. */
const LEAST_USER_TEXT = 2000;
/** Tolerance of the search for a length, as a share of the length. */
const PRECISION = 0.02;
const MOST_TRIES = 10;

/** A part of a turn that is omitted as a whole: a message with calls and their results, or another message. */
interface Unit {
  readonly isRound: boolean;
  readonly at: readonly number[];
}

interface TurnParts {
  readonly question: number | null;
  readonly middle: readonly Unit[];
  readonly answer: number | null;
}

/** Maximum lengths of texts, in UTF-16 units; a limited text has no images. */
interface Lengths {
  readonly result: number;
  readonly user: number;
  readonly answer: number;
}

const WHOLE: Lengths = { result: Infinity, user: Infinity, answer: Infinity };

/**
 * Shortens a turn in this order, each step only as far as needed: tool results, rounds of calls (the first and the last
 * round are omitted last), user texts, the question and the answer. The question and the answer are never omitted.
 * @param messages the complete turn, valid for every provider
 * @param said indexes of the messages to include, without system messages; at least one
 */
export function shortenTurn(
  messages: readonly SessionMessage[],
  said: readonly number[],
  limits: TurnLimits,
  count: CountTokens,
): ShortenedTurn {
  const draft = new TurnDraft(messages, partsOf(messages, said), count);
  const fits = () => draft.messages <= limits.messages && draft.tokens <= limits.tokens;
  /** Extends texts as far as the tokens allow. */
  const widen = (least: number, of: (length: number) => Partial<Lengths>) => {
    const at = (length: number): Lengths => ({ ...draft.lengths, ...of(length) });
    draft.lengths = at(longestThat(least, draft.longest, limits.tokens, (length) => draft.tokensAt(at(length))));
  };
  draft.bareAnswer();
  if (fits()) return draft.build('shortened');
  draft.lengths = { ...WHOLE, result: LEAST_RESULT };
  draft.leaveOut(true, limits);
  if (fits()) {
    draft.lengths = WHOLE;
    if (!fits()) widen(LEAST_RESULT, (result) => ({ result }));
    return draft.build('shortened');
  }
  draft.lengths = { ...draft.lengths, user: LEAST_USER_TEXT };
  draft.leaveOut(false, limits);
  if (draft.tokens > limits.tokens) widen(0, (length) => ({ user: length, answer: length }));
  else {
    draft.lengths = { ...draft.lengths, user: Infinity };
    if (draft.tokens > limits.tokens) widen(LEAST_USER_TEXT, (user) => ({ user }));
  }
  return draft.build('shortened');
}

/**
 * The question and the answer of a turn, or its last text if it has no answer; without reasoning and provider state.
 */
export function toQuestionAndAnswer(
  messages: readonly SessionMessage[],
  said: readonly number[],
  count: CountTokens,
): ShortenedTurn {
  const draft = new TurnDraft(messages, partsOf(messages, said), count);
  draft.bareAnswer();
  for (const isRound of [true, false]) draft.leaveOut(isRound, { messages: 0, tokens: 0 });
  return draft.build('question_and_answer');
}

/** A turn that is being shortened. */
class TurnDraft {
  private lengthsNow: Lengths = WHOLE;
  private sum: number | null = null;
  private isBareAnswer = false;
  private readonly out = new Set<Unit>();
  private readonly counted = new Map<string, number>();
  /** The last text of a turn without an answer: it stays, without its calls, if its unit is omitted. */
  private readonly lastText: number | null;

  constructor(
    private readonly all: readonly SessionMessage[],
    private readonly parts: TurnParts,
    private readonly count: CountTokens,
  ) {
    const places = parts.answer === null ? parts.middle.flatMap((unit) => unit.at) : [];
    this.lastText = places.findLast((at) => all[at]!.role === 'assistant' && textOf(all[at]!).trim() !== '') ?? null;
  }

  get lengths(): Lengths {
    return this.lengthsNow;
  }

  set lengths(lengths: Lengths) {
    this.lengthsNow = lengths;
    this.sum = null;
  }

  get messages(): number {
    return this.kept().length;
  }

  get tokens(): number {
    return (this.sum ??= this.tokensAt(this.lengthsNow));
  }

  /** Length of the longest text, in UTF-16 units. */
  get longest(): number {
    return this.kept().reduce((longest, at) => Math.max(longest, textOf(this.all[at]!).length), 0);
  }

  /** Drops the reasoning of the answer: it is not part of the conversation. */
  bareAnswer(): void {
    const { answer } = this.parts;
    const message = answer === null ? undefined : this.all[answer];
    this.isBareAnswer = message?.role === 'assistant' && Boolean(message.reasoning ?? message.signedReasoning);
    this.sum = null;
  }

  /** Omits units until the limits hold: from the second on, then the first, then the last. */
  leaveOut(isRound: boolean, limits: TurnLimits): void {
    const units = this.parts.middle.filter((unit) => unit.isRound === isRound);
    const ordered = units.length > 2 ? [...units.slice(1, -1), units[0]!, units.at(-1)!] : units;
    let { messages, tokens } = this;
    for (const unit of ordered) {
      if (messages <= limits.messages && tokens <= limits.tokens) break;
      this.out.add(unit);
      messages -= unit.at.length;
      tokens -= unit.at.reduce((sum, at) => sum + this.tokensOf(at, this.lengths, false), 0);
      if (!this.isLastOutside(unit)) continue;
      messages++;
      tokens += this.tokensOf(this.lastText!, this.lengths, true);
    }
    this.sum = null;
  }

  tokensAt(lengths: Lengths): number {
    const bare = this.bare();
    return this.kept().reduce((sum, at) => sum + this.tokensOf(at, lengths, bare.has(at)), 0);
  }

  build(form: ShortenedTurn['form']): ShortenedTurn {
    const [kept, bare] = [this.kept(), this.bare()];
    const texts = kept.flatMap((at) => this.cutAt(at, this.lengths, bare.has(at)) ?? []);
    return { form, kept, texts, bare: [...bare], messages: kept.length, tokens: this.tokens };
  }

  private kept(): number[] {
    const { question, middle, answer } = this.parts;
    const kept = question === null ? [] : [question];
    for (const unit of middle) {
      if (!this.out.has(unit)) kept.push(...unit.at);
      else if (this.isLastOutside(unit)) kept.push(this.lastText!);
    }
    return answer === null ? kept : [...kept, answer];
  }

  private bare(): Set<number> {
    const bare = new Set<number>();
    if (this.isBareAnswer) bare.add(this.parts.answer!);
    for (const unit of this.out) if (this.isLastOutside(unit)) bare.add(this.lastText!);
    return bare;
  }

  private isLastOutside(unit: Unit): boolean {
    return this.lastText !== null && unit.at.includes(this.lastText);
  }

  private tokensOf(at: number, lengths: Lengths, isBare: boolean): number {
    const cut = this.cutAt(at, lengths, isBare);
    const key = `${at}:${isBare}:${cut ? `${cut.head}:${cut.tail}` : ''}`;
    let tokens = this.counted.get(key);
    if (tokens === undefined) {
      tokens = this.count(applyCut(this.all, { kept: [at], texts: cut ? [cut] : [], bare: isBare ? [at] : [] }));
      this.counted.set(key, tokens);
    }
    return tokens;
  }

  private cutAt(at: number, { result, user, answer }: Lengths, isBare: boolean): TextCut | null {
    const message = this.all[at]!;
    const ofAssistant = isBare || at === this.parts.answer ? answer : Infinity;
    const length = message.role === 'tool' ? result : message.role === 'user' ? user : ofAssistant;
    return length === Infinity ? null : cutOf(message, at, length);
  }
}

/** The parts of a turn by position; a message with calls and its results form one unit. */
function partsOf(messages: readonly SessionMessage[], said: readonly number[]): TurnParts {
  const roleAt = (at: number | undefined) => (at === undefined ? undefined : messages[at]?.role);
  const question = roleAt(said[0]) === 'user' ? said[0]! : null;
  const last = said.at(-1)!;
  const answer = last !== question && isAnswer(messages[last]!) ? last : null;
  const middle: { isRound: boolean; at: number[] }[] = [];
  for (const at of said) {
    if (at === question || at === answer) continue;
    const message = messages[at]!;
    if (message.role === 'tool' && middle.length > 0) middle.at(-1)!.at.push(at);
    else middle.push({ isRound: message.role === 'assistant' && !isAnswer(message), at: [at] });
  }
  return { question, middle, answer };
}

function isAnswer(message: SessionMessage): boolean {
  return message.role === 'assistant' && !message.toolCalls?.length;
}

/**
 * The greatest length at which the texts stay within the tokens, by interpolation; `least` if even that exceeds them.
 * @param most a length at which nothing is cut
 */
function longestThat(least: number, most: number, maxTokens: number, tokensAt: (length: number) => number): number {
  let [low, high] = [least, Math.max(most, least)];
  let [tokensLow, tokensHigh] = [tokensAt(low), tokensAt(high)];
  if (tokensHigh <= maxTokens) return high;
  for (let tries = 0; tries < MOST_TRIES && high - low > 1 + PRECISION * high && tokensLow < maxTokens; tries++) {
    const share = (maxTokens - tokensLow) / Math.max(tokensHigh - tokensLow, 1);
    // Every other step bisects, so that uneven text cannot make the search slow.
    const length = low + Math.max(1, Math.floor((high - low) * (tries % 2 ? 0.5 : Math.min(share, 0.98))));
    const tokens = tokensAt(length);
    if (tokens <= maxTokens) [low, tokensLow] = [length, tokens];
    else [high, tokensHigh] = [length, tokens];
  }
  return low;
}

/**
 * @returns the longest cut of one message found in a few tries that stays within the tokens; null without a fitting cut
 */
export function cutToTokens(message: SessionMessage, at: number, tokens: number, count: CountTokens): TextCut | null {
  const tokensAt = (length: number) => {
    const cut = cutOf(message, at, length);
    return count(cut ? [withCut(message, cut)] : [message]);
  };
  const cut = cutOf(message, at, longestThat(0, textOf(message).length, tokens, tokensAt));
  return cut && count([withCut(message, cut)]) <= tokens ? cut : null;
}
