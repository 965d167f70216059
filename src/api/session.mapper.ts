import type { Message } from '../llm/index.js';
import type { SessionRecord, StoredTurn } from '../session/index.js';

/** A session as the API tells it. Times are epoch ms. */
export interface SessionView {
  readonly id: string;
  readonly owner: string;
  readonly turn_count: number;
  readonly message_count: number;
  readonly created_at: number;
  readonly updated_at: number;
}

export interface MessageView {
  readonly turn: number;
  readonly run_id: string;
  readonly role: Message['role'];
  readonly content: unknown;
  readonly tool_calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly tool_call_id?: string;
  readonly name?: string;
  readonly created_at: number;
}

export interface MessagePage {
  readonly messages: readonly MessageView[];
  /** What to give as `after` for the next page; `null` on the last one. */
  readonly next: number | null;
}

export function toSessionView(session: SessionRecord): SessionView {
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
export function toMessagePage(turns: readonly StoredTurn[], limit: number): MessagePage {
  const page = turns.slice(0, limit);
  return {
    messages: page.flatMap((turn) => turn.messages.map((message) => toMessageView(turn, message))),
    next: turns.length > limit ? page.at(-1)!.turn : null,
  };
}

function toMessageView({ turn, runId, createdAt }: StoredTurn, message: Message): MessageView {
  const view = { turn, run_id: runId, role: message.role, content: message.content, created_at: createdAt };
  switch (message.role) {
    case 'assistant':
      return message.toolCalls ? { ...view, tool_calls: message.toolCalls } : view;
    case 'tool':
      return { ...view, tool_call_id: message.toolCallId, name: message.name };
    case 'system':
    case 'user':
      return view;
  }
}
