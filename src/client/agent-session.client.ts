import type { ChatOptions, ChatReply, ChatStreamOptions } from './agent-reply.mapper.js';
import type { ChatMessage } from './chat-message.mapper.js';
import type { AgentSessions } from './agent-sessions.client.js';
import type { RunEvent } from '../run/event/index.js';
import type { SessionRecord, StoredTurn } from '../session/index.js';

type SessionChatOptions = Omit<ChatOptions, 'sessionId' | 'newSession'>;

/** The agent of a session. */
interface ChatAgent {
  readonly sessions: AgentSessions;
  chat(message: ChatMessage, options: ChatOptions): Promise<ChatReply>;
  chatStream(message: ChatMessage, options: ChatStreamOptions): AsyncGenerator<string, void>;
  stream(message: ChatMessage, callback: (event: RunEvent) => void, options: ChatOptions): Promise<void>;
}

/** A session with an agent of `createAgent`. */
export class AgentSession {
  constructor(
    readonly id: string,
    private readonly agent: ChatAgent,
  ) {}

  /** As `agent.chat`, in this session. */
  chat(message: ChatMessage, options: SessionChatOptions = {}): Promise<ChatReply> {
    return this.agent.chat(message, { ...options, sessionId: this.id });
  }

  /** As `agent.chatStream`, in this session. */
  chatStream(
    message: ChatMessage,
    options: Omit<ChatStreamOptions, 'sessionId' | 'newSession'> = {},
  ): AsyncGenerator<string, void> {
    return this.agent.chatStream(message, { ...options, sessionId: this.id });
  }

  /** As `agent.stream`, in this session. */
  stream(message: ChatMessage, callback: (event: RunEvent) => void, options: SessionChatOptions = {}): Promise<void> {
    return this.agent.stream(message, callback, { ...options, sessionId: this.id });
  }

  /** @throws AppError `SESSION_NOT_FOUND` if the session has no message and was not created */
  get(): Promise<SessionRecord> {
    return this.agent.sessions.get(this.id);
  }

  /** A page of the messages, as `agent.sessions.turns`. @throws AppError `SESSION_NOT_FOUND` */
  turns(page?: { limit?: number; after?: number }): Promise<StoredTurn[]> {
    return this.agent.sessions.turns(this.id, page);
  }

  /** Deletes all messages. @throws AppError `SESSION_NOT_FOUND`, `SESSION_BUSY` */
  clear(): Promise<void> {
    return this.agent.sessions.clear(this.id);
  }

  /** @throws AppError `SESSION_NOT_FOUND`, `SESSION_BUSY` */
  delete(): Promise<void> {
    return this.agent.sessions.delete(this.id);
  }
}
