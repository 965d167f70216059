import type { MemoryState, RunUsage } from '../../run/index.js';
import type { SessionMessage } from '../session.types.js';
import type { TextCut, TurnCut } from './turn-cut.mapper.js';
import type { CountTokens } from './turn-shortening.policy.js';

/** What a run may see of its session's past. */
export interface MemoryRules {
  /** Without it a run sees nothing; the session is kept all the same. */
  readonly enabled: boolean;
  /** A policy's name. */
  readonly policy: string;
  readonly maxMessages: number;
  readonly maxContextTokens: number;
  /** Whether tool calls and their results are seen. */
  readonly includeToolCalls: boolean;
  /** With `fixed_window`: so many of the first messages stay. */
  readonly keepFirst: number;
}

/** What is known of a turn without reading it. */
export interface TurnSize {
  /** Its number, counted from 1. */
  readonly turn: number;
  readonly messages: number;
  readonly tokens: number;
  /** The turn that last referred to it; more than any turn when it is pinned. */
  readonly mark: number | null;
}

/** What a model made of the turns up to `through`. */
export interface Summary {
  readonly through: number;
  readonly text: string;
  readonly tokens: number;
}

/** What was decided when a run first looked back; whoever replays it decides the same. */
export interface MemoryPlace {
  /** The session's last turn then. */
  readonly lastTurn: number;
  readonly messageCount: number;
  /** Whether the past holds what strangers wrote. */
  readonly isTainted?: true;
  /** The turns that were chosen, where they do not follow from the rest. */
  readonly turns?: readonly number[];
  readonly summary?: Summary;
  /** Since version 2 of the loop: the model's part of the history, so that a replay sends the same bytes. */
  readonly given?: GivenPast;
  /** What the model that was asked for a summary took, if one was. */
  readonly usage?: RunUsage;
}

/** Numbers of turns in ascending order; a pair is a range, both ends included. */
export type TurnRanges = readonly (number | readonly [first: number, last: number])[];

/** The turns that a run was given, and where they were cut. */
export interface GivenPast {
  readonly turns: TurnRanges;
  readonly cuts: readonly TurnCut[];
  readonly summaryCut?: TextCut;
  /** Of everything that is given. */
  readonly tokens: number;
  /** The limits as they were resolved for the run. */
  readonly maxMessages: number;
  readonly maxContextTokens: number;
}

/** Functions for the selection of the history. */
export interface MemoryTools {
  /** Called when turns are left out and the policy has a summary made of them. */
  readonly summarise: Summarise;
  readonly count: CountTokens;
}

/** What a run sees of the past. */
export interface Recollection {
  readonly place: MemoryPlace;
  /** Oldest first; valid by any provider's rules. */
  readonly messages: readonly SessionMessage[];
  readonly state: MemoryState;
  /** The numbers of turns that were damaged, and are given as far as they make sense. */
  readonly repaired: readonly number[];
}

/** What a model made of a part of the past. */
export interface MadeSummary {
  readonly text: string;
  readonly tokens: number;
}

/** Makes a summary, of a former one and the messages after it; `null` when there is none to be had now. */
export type Summarise = (former: string | null, messages: readonly SessionMessage[]) => Promise<MadeSummary | null>;
