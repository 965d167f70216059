import type { Message } from '../llm/chat/index.js';
import type { DataFact } from '../run/facts/index.js';

/** How a turn ended. */
export type TurnStatus = 'completed' | 'failed' | 'cancelled';

/** A message as stored in a session. */
export type SessionMessage = Message & {
  /** Time of the message, epoch ms; by default the end of its turn. */
  readonly at?: number;
  /** Metadata from clients; no model sees it. */
  readonly metadata?: Readonly<Record<string, unknown>>;
};

/** One input and all messages that follow from it. It is appended once, complete; every call in it has one result. */
export interface Turn {
  readonly runId: string;
  readonly status: TurnStatus;
  readonly messages: readonly SessionMessage[];
  /** Tokens of all its messages; 0 by default, which fits every budget. */
  readonly tokens?: number;
  /** Tokens without tool calls and their results. */
  readonly plainTokens?: number;
}

/** A turn with its position in the session. */
export interface StoredTurn extends Turn {
  /** Counted from 1 within the session. */
  readonly turn: number;
  readonly tokens: number;
  readonly plainTokens: number;
  /** The latest turn that referred to it; `PINNED` for a pinned turn; `null` otherwise. */
  readonly mark: number | null;
  /** Epoch ms. */
  readonly createdAt: number;
}

/** The mark of a pinned turn: greater than any turn number. */
export const PINNED = 2_147_483_647;

export interface SessionRecord {
  readonly id: string;
  readonly tenant: string;
  /** The id of the principal who created it. */
  readonly owner: string;
  /** The number of its last turn; 0 before the first. */
  readonly lastTurn: number;
  /** The number of the last turn that was cleared; 0 without one. */
  readonly clearedTurn: number;
  readonly messageCount: number;
  /** Metadata from clients. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The first turn with untrusted content; `null` if all content is trusted. */
  readonly taintedTurn: number | null;
  /** The first turn with private data; `null` without such data. */
  readonly privateTurn: number | null;
  /** Sources of these facts, as far as they are known. */
  readonly dataFacts: readonly DataFact[];
  /** Epoch ms. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The parent session, whose agent talks with another agent in this one; `null` for a session that clients use. */
  readonly parentId: string | null;
  /** Set in lists if the row is damaged; metadata and facts are then empty. */
  readonly isDamaged?: true;
}

/** Key of a session: its tenant and its id. */
export interface SessionKey {
  readonly tenant: string;
  readonly id: string;
}
