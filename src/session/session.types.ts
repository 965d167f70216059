import type { Message } from '../llm/index.js';

/** How a turn ended. */
export type TurnStatus = 'completed' | 'failed' | 'cancelled';

/** A message as a session keeps it. */
export type SessionMessage = Message & {
  /** When it was said, epoch ms; without it, when its turn ended. */
  readonly at?: number;
  /** What the users keep with it; no model sees it. */
  readonly metadata?: Readonly<Record<string, unknown>>;
};

/** One input and everything that came of it; it enters a session whole, once, and every call in it has one result. */
export interface Turn {
  readonly runId: string;
  readonly status: TurnStatus;
  readonly messages: readonly SessionMessage[];
  /** Of all its messages; 0, which fits every budget, when it is left out. */
  readonly tokens?: number;
  /** Without tool calls and their results. */
  readonly plainTokens?: number;
}

/** A turn in its place. */
export interface StoredTurn extends Turn {
  /** Counted from 1 within the session. */
  readonly turn: number;
  readonly tokens: number;
  readonly plainTokens: number;
  /** The turn that last referred to it; `PINNED` when it stays in any case; `null` when neither. */
  readonly mark: number | null;
  /** Epoch ms. */
  readonly createdAt: number;
}

/** The mark of a turn that stays: more than any turn's number. */
export const PINNED = 2_147_483_647;

export interface SessionRecord {
  readonly id: string;
  readonly tenant: string;
  /** The id of the principal who began it. */
  readonly owner: string;
  /** The number of its last turn; 0 before the first. */
  readonly lastTurn: number;
  readonly messageCount: number;
  /** What the users keep with it. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The first turn that holds what strangers wrote; `null` when none does. */
  readonly taintedTurn: number | null;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The session whose agent talks in this one with another agent; `null` for one that somebody talks in. */
  readonly parentId: string | null;
}

/** Whose session it is, and which. */
export interface SessionKey {
  readonly tenant: string;
  readonly id: string;
}
