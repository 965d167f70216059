import type { Message } from '../llm/index.js';
import type { SessionRecord, StoredTurn } from '../session/index.js';
import type { MessageDto, MessagePageDto, SessionDto } from './session.dto.js';

export function toSessionView(session: SessionRecord): SessionDto {
  return {
    id: session.id,
    owner: session.owner,
    turn_count: session.lastTurn,
    message_count: session.messageCount,
    created_at: session.createdAt,
    updated_at: session.updatedAt,
  };
}

/** @param turns one more than `limit`, the most that the page may have, when there are further ones */
export function toMessagePage(turns: readonly StoredTurn[], limit: number): MessagePageDto {
  const page = turns.slice(0, limit);
  return {
    messages: page.flatMap((turn) => turn.messages.map((message) => toMessageView(turn, message))),
    next: turns.length > limit ? page.at(-1)!.turn : null,
  };
}

function toMessageView({ turn, status, runId, createdAt }: StoredTurn, message: Message): MessageDto {
  const { role, content } = message;
  const view = { turn, turn_status: status, run_id: runId, role, content, created_at: createdAt };
  switch (message.role) {
    case 'assistant':
      return message.toolCalls ? { ...view, tool_calls: [...message.toolCalls] } : view;
    case 'tool':
      return { ...view, tool_call_id: message.toolCallId, name: message.name };
    case 'system':
    case 'user':
      return view;
  }
}
