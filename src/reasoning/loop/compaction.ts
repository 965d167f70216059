import { countMessages, estimateTokens, imagesOf } from '../../llm/index.js';
import type { Message, ToolMessage } from '../../llm/chat/index.js';
import type { Loop } from '../reasoning.types.js';
import type { Compaction, MiddleSummary } from './compaction.types.js';

/** The size of the next request, the size that a compaction must reach, and the one it aims at; in tokens. */
export interface CompactionGoal {
  readonly size: number;
  readonly limit: number;
  readonly target: number;
}

type Messages = Pick<Loop, 'turn'> & { readonly history: readonly Message[] };

/** Shares of the context window: a larger request is compacted until it has the target. */
const OF_WINDOW = { limit: 0.7, target: 0.5 };
/** The same shares of a request that was too long for its model. */
const OF_REFUSED = { limit: 0.6, target: 0.4 };
/** Replies at the end of the turn whose results remain as long as possible. */
const RECENT_REPLIES = 2;
/** Tokens of a note; a shorter result remains. */
const NOTE_TOKENS = 50;
/** Tokens of the summary, whose prompt limits its words. */
const SUMMARY_TOKENS = 500;
/** Share of the limit from which on the middle is worth a model call. */
const WORTH_SUMMARY = 0.15;
const IMAGE_TOKENS = 1000;

const counter = { count: estimateTokens, isExact: false };

/** Tokens of messages, estimated without the vocabulary of a model. */
export function tokensOf(messages: readonly Message[]): number {
  return countMessages(counter, messages);
}

/** The goal if the next request exceeds its share of the window; `null` if it does not, or if the window is unknown. */
export function goalOfWindow(loop: Loop): CompactionGoal | null {
  const { request, compaction } = loop;
  const window = Math.min(request.contextTokens ?? Infinity, compaction?.refusedTokens ?? Infinity);
  const limit = Math.floor(window * OF_WINDOW.limit);
  if (window === Infinity || isFarBelow(limit, loop)) return null;
  const size = sizeOfRequest(loop);
  return size <= limit ? null : { size, limit, target: Math.floor(window * OF_WINDOW.target) };
}

/** The goal after the provider has refused the request as too long. */
export function goalOfRefusal(loop: Loop): CompactionGoal {
  const size = sizeOfRequest(loop);
  return { size, limit: Math.floor(size * OF_REFUSED.limit), target: Math.floor(size * OF_REFUSED.target) };
}

/** A cheap check: no tokenizer makes more tokens than characters of almost any text. */
function isFarBelow(limit: number, loop: Loop): boolean {
  const { usage } = loop.reply ?? {};
  if (!usage) return false;
  const since = sinceReply(loop).reduce((sum, message) => sum + lengthOf(message), 0);
  return usage.promptTokens + usage.completionTokens + since <= limit;
}

function lengthOf(message: Message): number {
  const text = typeof message.content === 'string' ? message.content.length : 0;
  return text + imagesOf(message).length * IMAGE_TOKENS;
}

/** The reported tokens of the last request and reply, and those of the results since; without a report, all tokens. */
function sizeOfRequest(loop: Loop): number {
  const { usage } = loop.reply ?? {};
  if (usage) return usage.promptTokens + usage.completionTokens + tokensOf(sinceReply(loop));
  const { history, turn } = compactedMessages(loop);
  const tools = JSON.stringify(loop.request.tools.map(({ definition }) => definition));
  return tokensOf([{ role: 'system', content: loop.instructions + tools }, ...history, ...turn]);
}

function sinceReply({ turn }: Loop): readonly Message[] {
  return turn.slice(turn.findLastIndex(({ role }) => role === 'assistant') + 1);
}

/** The messages of the next request, without the parts that a compaction leaves out. */
export function compactedMessages({ request: { history }, turn, compaction }: Loop): Messages {
  if (!compaction) return { history, turn };
  const { shown, summary } = compaction;
  const remaining = turn.map((message, at) => {
    const length = shown[at];
    return length === undefined || message.role !== 'tool' ? message : shortened(message, numberOf(turn, at), length);
  });
  if (!summary) return { history, turn: remaining };
  const [input, ...rest] = remaining;
  return { history: [], turn: [withSummary(input!, summary.text), ...rest.slice(summary.upTo - 1)] };
}

/** The number of a result, from 1, by which the model reads it again. */
function numberOf(turn: readonly Message[], index: number): number {
  return turn.slice(0, index + 1).filter(({ role }) => role === 'tool').length;
}

/** The start of a result, and a note with the number by which the model can read the rest. */
function shortened({ images, audio, content, ...rest }: ToolMessage, number: number, length: number): ToolMessage {
  const parts = [images, audio].reduce((sum, list) => sum + (list?.length ?? 0), 0);
  const others = parts > 0 ? ` and ${parts} images or recordings` : '';
  if (length > 0) {
    const start = content.slice(0, length).toWellFormed();
    const note = `[The rest of result ${number}, from character ${length} of ${content.length}${others}, is left out]`;
    return { ...rest, content: `${start}\n${note}` };
  }
  return { ...rest, content: `[Result ${number} is left out to save space: ${content.length} characters${others}]` };
}

function withSummary(input: Message, summary: string): Message {
  const text = `[Summary of the conversation and of your work so far, in place of the messages:]\n${summary}`;
  if (input.role !== 'user') return input;
  if (typeof input.content === 'string') return { ...input, content: `${input.content}\n\n${text}` };
  return { ...input, content: [...input.content, { type: 'text', text }] };
}

/** A compaction in progress. Each step leaves out more, until the request has the size of the goal. */
export class CompactionPlan {
  private readonly shown: Record<number, number>;
  private summary: MiddleSummary | undefined;
  private size: number;
  /** Index of the first message that remains after a summary. */
  private readonly recent: number;

  constructor(
    private readonly loop: Loop,
    private readonly goal: CompactionGoal,
  ) {
    this.shown = { ...loop.compaction?.shown };
    this.summary = loop.compaction?.summary;
    this.size = goal.size;
    const replies = loop.turn.flatMap(({ role }, at) => (role === 'assistant' && at >= this.start ? [at] : []));
    this.recent = replies.at(-RECENT_REPLIES) ?? this.start;
  }

  /** Leaves out old results, the oldest first, as many as the target requires. */
  leaveOutOld(): void {
    for (let at = this.start; at < this.recent && this.size > this.goal.target; at++) this.shorten(at, 0);
  }

  /** The messages to summarise, if the request still exceeds the limit and they are worth a model call. */
  middle(): readonly Message[] {
    if (this.size <= this.goal.limit) return [];
    const middle = this.middleMessages();
    return tokensOf(middle) < this.goal.limit * WORTH_SUMMARY ? [] : middle;
  }

  summarise(text: string): void {
    const middle = this.middleMessages();
    this.size -= tokensOf(middle) - SUMMARY_TOKENS;
    const before = this.summary?.messages ?? 0;
    this.summary = { text, upTo: this.recent, messages: before + middle.length };
  }

  /** Cuts the latest results in equal proportion, if the request still exceeds the limit. */
  cutRecent(): void {
    if (this.size <= this.goal.limit) return;
    const results = this.loop.turn.flatMap((message, at) => {
      if (message.role !== 'tool' || at < this.recent || this.shown[at] === 0) return [];
      return [{ at, length: this.shown[at] ?? message.content.length, tokens: tokensOf([this.current(message, at)]) }];
    });
    const total = results.reduce((sum, { tokens }) => sum + tokens, 0);
    const share = Math.max(0, total - (this.size - this.goal.target)) / total;
    for (const { at, length } of results) this.shorten(at, Math.floor(length * share));
  }

  /** @returns `null` if nothing could be left out */
  result(refusedTokens: number | undefined): { readonly compaction: Compaction; readonly size: number } | null {
    if (this.size >= this.goal.size) return null;
    const { shown, summary } = this;
    const known = refusedTokens ?? this.loop.compaction?.refusedTokens;
    const compaction = { shown, ...(summary && { summary }), ...(known !== undefined && { refusedTokens: known }) };
    return { compaction, size: this.size };
  }

  /** Index of the first message of the turn that no summary replaces. */
  private get start(): number {
    return this.summary?.upTo ?? 1;
  }

  private middleMessages(): readonly Message[] {
    const { history, turn } = compactedMessages({ ...this.loop, compaction: { shown: this.shown } });
    return [...(this.summary ? [] : history), ...turn.slice(this.start, this.recent)];
  }

  /** A result as the next request has it so far. */
  private current(message: ToolMessage, at: number): ToolMessage {
    const length = this.shown[at];
    return length === undefined ? message : shortened(message, 0, length);
  }

  private shorten(at: number, length: number): void {
    const message = this.loop.turn[at]!;
    if (message.role !== 'tool' || this.shown[at] === 0) return;
    const saved = tokensOf([this.current(message, at)]) - tokensOf([shortened(message, 0, length)]);
    if (saved < NOTE_TOKENS) return;
    this.shown[at] = length;
    this.size -= saved;
  }
}
