import { AppError } from '../../errors/index.js';
import { newId, type Principal } from '../../kernel/index.js';
import { countMessages, type TokenCounter } from '../../llm/index.js';
import { PINNED, type SessionMessage, type StoredTurn } from '../session.types.js';
import { assertSessionId } from '../turn-place.factory.js';
import type { ConversationStore } from './conversation.store.js';
import type { MemoryPolicy } from './memory-policy.js';
import { Memory } from './memory.js';
import type { MemoryRules } from './memory.types.js';
import { assertMessage } from './message.schema.js';
import { recollectPlace, toPlainTurn, toRanges } from './recollection.mapper.js';
import { NOTHING_RESERVED, TurnSelection } from './turn-selection.js';

/** The tokens of a turn, with and without its tool calls. */
export function countTurn(
  counter: TokenCounter,
  messages: readonly SessionMessage[],
): Pick<StoredTurn, 'tokens' | 'plainTokens'> {
  const tokens = countMessages(counter, messages);
  const hasCalls = messages.some((one) => one.role === 'tool' || (one.role === 'assistant' && one.toolCalls));
  return { tokens, plainTokens: hasCalls ? countMessages(counter, toPlainTurn(messages)) : tokens };
}

/** The owner of a memory, and its rules. */
export interface MemoryOptions {
  readonly principal: Principal;
  readonly rules: MemoryRules;
  readonly policy: MemoryPolicy;
  readonly counter: TokenCounter;
}

/** The session that a memory was restored from or persisted to, with its last turn at that time. */
interface CachedSession {
  readonly id: string;
  readonly lastTurn: number;
}

/** A conversation in the memory of this process, as turns of a session. */
export class TurnMemory extends Memory {
  private session: CachedSession | null = null;
  /** The turns that the session has. */
  private cached: StoredTurn[] = [];
  /** Messages added since then, by turn. */
  private added: SessionMessage[][] = [];

  constructor(
    private readonly conversations: ConversationStore,
    private readonly options: MemoryOptions,
  ) {
    super();
  }

  async addMessage(message: SessionMessage): Promise<void> {
    assertMessage(message, 'addMessage takes one message');
    const last = this.added.at(-1);
    if (message.role === 'tool' && !openCalls(last ?? []).has(message.toolCallId)) {
      const why = `There is no call "${message.toolCallId}" that waits for a result; add the call first.`;
      throw new AppError('VALIDATION_FAILED', why);
    }
    const said = { ...message, at: message.at ?? Date.now() };
    const begins = message.role === 'user' && !last?.every(({ role }) => role === 'system');
    if (!last || begins) this.added.push([said]);
    else last.push(said);
  }

  async getMessages(limit = Number.MAX_SAFE_INTEGER): Promise<SessionMessage[]> {
    const all = [...this.cached.flatMap(({ messages }) => messages), ...this.added.flat()];
    return all.slice(Math.max(all.length - Math.max(limit, 0), 0));
  }

  async clear(): Promise<void> {
    this.session = null;
    this.cached = [];
    this.added = [];
  }

  async getContext(maxTokens?: number): Promise<SessionMessage[]> {
    const { policy } = this.options;
    const rules = { ...this.options.rules, ...(maxTokens !== undefined && { maxContextTokens: maxTokens }) };
    const turns = [...this.cached, ...this.newTurns()];
    if (!rules.enabled) return [];
    const count = (messages: readonly SessionMessage[]) => countMessages(this.options.counter, messages);
    const selection = new TurnSelection(rules, policy, count).select(turns, NOTHING_RESERVED, requiredOf(turns));
    const { maxMessages, maxContextTokens } = rules;
    const selected = { ...selection, turns: toRanges(selection.turns), maxMessages, maxContextTokens };
    const messageCount = turns.reduce((sum, { messages }) => sum + messages.length, 0);
    return [...recollectPlace({ lastTurn: this.lastTurn, messageCount, given: selected }, turns, rules).messages];
  }

  async persist(sessionId: string): Promise<void> {
    assertSessionId(sessionId);
    const [unanswered] = openCalls(this.added.flat());
    if (unanswered !== undefined) {
      const why = `The call "${unanswered}" has no result yet; add it, then persist.`;
      throw new AppError('VALIDATION_FAILED', why);
    }
    const isCached = this.session?.id === sessionId;
    const added = this.newTurns();
    const turns = isCached ? [...this.cached, ...added] : asFirst([...this.cached, ...added]);
    if (!isCached) await this.conversations.begin(this.keyOf(sessionId), this.options.principal.id, turns);
    else if (added.length > 0) await this.conversations.extend(this.keyOf(sessionId), this.lastTurn, added);
    this.session = { id: sessionId, lastTurn: isCached ? this.lastTurn + added.length : turns.length };
    this.cached = turns;
    this.added = [];
  }

  async restore(sessionId: string): Promise<void> {
    const { policy, rules } = this.options;
    const query = { marked: rules.maxMessages, ...policy.query(rules) };
    const { lastTurn, turns } = await this.conversations.read(this.options.principal, sessionId, query);
    this.session = { id: sessionId, lastTurn };
    this.cached = turns;
    this.added = [];
  }

  private get lastTurn(): number {
    return this.session?.lastTurn ?? 0;
  }

  private newTurns(): StoredTurn[] {
    return this.added.map((messages, at) => ({
      turn: this.lastTurn + 1 + at,
      runId: newId(),
      status: 'completed',
      messages,
      ...countTurn(this.options.counter, messages),
      mark: messages.some(({ role }) => role === 'system') ? PINNED : null,
      createdAt: Date.now(),
    }));
  }

  private keyOf(id: string) {
    return { tenant: this.options.principal.tenant, id };
  }
}

/** The newest turns up to the newest one with an answer: an open question keeps the previous turn visible. */
function requiredOf(turns: readonly StoredTurn[]): number[] {
  const speaking = turns.filter(({ messages }) => messages.some(({ role }) => role !== 'system'));
  const last = speaking.at(-1);
  if (!last) return [];
  const isOpen = last.messages.at(-1)?.role !== 'assistant' || openCalls(last.messages).size > 0;
  return (isOpen ? speaking.slice(-2) : [last]).map(({ turn }) => turn);
}

/** Renumbers turns for a new session. */
function asFirst(turns: readonly StoredTurn[]): StoredTurn[] {
  return turns.map((turn, at) => ({ ...turn, runId: newId(), turn: at + 1 }));
}

/** The ids of calls that have no result yet. */
function openCalls(messages: readonly SessionMessage[]): Set<string> {
  const open = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool') open.delete(message.toolCallId);
    if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) open.add(id);
  }
  return open;
}
