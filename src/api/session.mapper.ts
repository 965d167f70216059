import {
  PINNED,
  type SessionMessage,
  type SessionPlace,
  type SessionRecord,
  type StoredTurn,
} from '../session/index.js';
import type { MessageDto, MessagePageDto, SessionDto, SessionPageDto } from './session.dto.js';
import { timePlaceIn, toCursor } from './list-cursor.js';

export function toSessionView(session: SessionRecord): SessionDto {
  return {
    id: session.id,
    owner: session.owner,
    turn_count: session.lastTurn - session.clearedTurn,
    message_count: session.messageCount,
    metadata: { ...session.metadata },
    is_tainted: session.taintedTurn !== null,
    is_private: session.privateTurn !== null,
    created_at: session.createdAt,
    updated_at: session.updatedAt,
    parent_session_id: session.parentId,
    ...(session.isDamaged && { is_damaged: session.isDamaged }),
  };
}

/** @param sessions up to `limit + 1` entries: one more than `limit`, the page size, if there is a next page */
export function toSessionPage(sessions: readonly SessionRecord[], limit: number): SessionPageDto {
  const page = sessions.slice(0, limit);
  const last = page.at(-1);
  return {
    sessions: page.map(toSessionView),
    next: toCursor('sessions', sessions.length > limit && last ? `${last.createdAt}.${last.id}` : null),
  };
}

/** @param cursor validated */
export function toPlace(cursor: string | undefined): SessionPlace | undefined {
  const place = timePlaceIn(cursor);
  return place && { createdAt: place.at, id: place.id };
}

/** @param turns up to `limit + 1` entries: one more than `limit`, the page size, if there is a next page */
export function toMessagePage(turns: readonly StoredTurn[], limit: number): MessagePageDto {
  const page = turns.slice(0, limit);
  return {
    messages: page.flatMap((turn) => turn.messages.map((message) => toMessageView(turn, message))),
    next: turns.length > limit ? page.at(-1)!.turn : null,
  };
}

function toMessageView({ turn, status, runId, mark, createdAt }: StoredTurn, message: SessionMessage): MessageDto {
  const { role, content, at = createdAt, metadata } = message;
  const facts = { turn, turn_status: status, run_id: runId, ...(mark === PINNED && { is_pinned: true as const }) };
  const view = { ...facts, role, content, ...(metadata && { metadata: { ...metadata } }), created_at: at };
  switch (message.role) {
    case 'assistant':
      return message.toolCalls ? { ...view, tool_calls: [...message.toolCalls] } : view;
    case 'tool':
      return {
        ...view,
        tool_call_id: message.toolCallId,
        name: message.name,
        ...(message.images && { images: [...message.images] }),
      };
    case 'system':
    case 'user':
      return view;
  }
}
