import type { MemoryState, RunUsage } from '../../run/event/index.js';
import type { DataFact } from '../../run/facts/index.js';
import type { SessionMessage } from '../session.types.js';
import type { TextCut, TurnCut } from './turn-cut.mapper.js';
import type { CountTokens } from './turn-shortening.policy.js';

/** Rules for the part of its session that a run sees. */
export interface MemoryRules {
  /** If false, a run sees no earlier turns; the session is stored anyway. */
  readonly enabled: boolean;
  /** The name of a policy. */
  readonly policy: string;
  readonly maxMessages: number;
  readonly maxContextTokens: number;
  /** Whether tool calls and their results are included. */
  readonly includeToolCalls: boolean;
  /** Messages at the start of the session that stay visible with `fixed_window`. */
  readonly keepFirst: number;
}

/** Properties of a turn that are known without its messages. */
export interface TurnSize {
  /** Its number, counted from 1. */
  readonly turn: number;
  readonly messages: number;
  readonly tokens: number;
  /** The latest turn that referred to it; greater than any turn number if pinned. */
  readonly mark: number | null;
}

/** A model's summary of the turns up to `through`. */
export interface Summary {
  readonly through: number;
  readonly text: string;
  readonly tokens: number;
}

/** The selection of a run's first execution; replays repeat it. */
export interface MemoryPlace {
  /** The last turn of the session at that time. */
  readonly lastTurn: number;
  readonly messageCount: number;
  /** Whether the earlier turns contain untrusted content. Recorded by earlier versions; now in `facts`. */
  readonly isTainted?: true;
  /** Facts of the data in the earlier turns. */
  readonly facts?: readonly DataFact[];
  /** The chosen turns, unless the other fields determine them. */
  readonly turns?: readonly number[];
  readonly summary?: Summary;
  /** The context of an application's memory. */
  readonly context?: readonly SessionMessage[];
  /** Facts of data that the memory may have added. */
  readonly memoryFacts?: readonly DataFact[];
  /** Since version 2 of the loop: the turns given to the model, so that a replay sends the same bytes. */
  readonly given?: GivenPast;
  /** Usage of the summary model, if it was called. */
  readonly usage?: RunUsage;
}

/** Numbers of turns in ascending order; a pair is a range, both ends included. */
export type TurnRanges = readonly (number | readonly [first: number, last: number])[];

/** The turns given to a run, and their cuts. */
export interface GivenPast {
  readonly turns: TurnRanges;
  readonly cuts: readonly TurnCut[];
  readonly summaryCut?: TextCut;
  /** Tokens of the given turns and summary. */
  readonly tokens: number;
  /** The limits as they were resolved for the run. */
  readonly maxMessages: number;
  readonly maxContextTokens: number;
}

/** Functions for the selection of the history. */
export interface MemoryTools {
  /** Called if turns are omitted and the policy summarises them. */
  readonly summarise: Summarise;
  readonly count: CountTokens;
  /** Turns to which the question refers, by number. */
  readonly references?: readonly number[];
  /** The run, for an application's memory. */
  readonly run?: AskingRun;
}

/** The run that requests a context from an application's memory. */
export interface AskingRun {
  /** Id of the principal. */
  readonly userId: string;
  readonly question: SessionMessage;
  readonly signal: AbortSignal;
}

export type { CountTokens };

/** The earlier messages that a run sees. */
export interface Recollection {
  readonly place: MemoryPlace;
  /** Oldest first; valid for every provider. */
  readonly messages: readonly SessionMessage[];
  /** The runs of the visible turns. */
  readonly runs: readonly string[];
  readonly state: MemoryState;
  /** Numbers of the damaged turns, which are repaired for the model. */
  readonly repaired: readonly number[];
}

/** A summary by a model. */
export interface MadeSummary {
  readonly text: string;
  readonly tokens: number;
}

/** Summarises messages, continuing a former summary; `null` if no summary is available now. */
export type Summarise = (former: string | null, messages: readonly SessionMessage[]) => Promise<MadeSummary | null>;
