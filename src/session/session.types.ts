import type { Message } from '../llm/index.js';

/** How a turn ended. */
export type TurnStatus = 'completed' | 'failed' | 'cancelled';

/** One input and everything that came of it; it enters a session whole, once, and every call in it has one result. */
export interface Turn {
  readonly runId: string;
  readonly status: TurnStatus;
  readonly messages: readonly Message[];
}

/** A turn in its place. */
export interface StoredTurn extends Turn {
  /** Counted from 1 within the session. */
  readonly turn: number;
  /** Epoch ms. */
  readonly createdAt: number;
}

export interface SessionRecord {
  readonly id: string;
  readonly tenant: string;
  /** The id of the principal who began it. */
  readonly owner: string;
  /** The number of its last turn; 0 before the first. */
  readonly lastTurn: number;
  readonly messageCount: number;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A part of a session's history that a run may see. */
export interface SessionWindow {
  /** The session's last turn when the window was taken. */
  readonly lastTurn: number;
  /** Oldest first. */
  readonly messages: readonly Message[];
}
