import { Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { AppError } from '../../errors/index.js';
import type { JsonValue } from '../../kernel/json/index.js';
import { TokenCounterRegistry } from '../../llm/index.js';
import { admit, type ContentFilter } from '../../security/content/index.js';
import { SecurityPolicies } from '../../tool-policy/index.js';
import { countTurn } from '../memory/turn-memory.js';
import { type SessionExport, toMessages } from '../session-export.schema.js';
import { PINNED, type SessionMessage, type StoredTurn } from '../session.types.js';

/** The content filters of an import; `null` without rules. */
export interface ImportFilters {
  /** For all texts, because the importer may have written each of them. */
  readonly input: ContentFilter | null;
  /** For tool results, in addition. */
  readonly results: ContentFilter | null;
}

/**
 * Applies the content filters to the texts of an imported message that a model can receive.
 * @param what name of the message in the error
 * @throws AppError `INPUT_BLOCKED`; also for a finding in the id or name of a call, which cannot be masked
 */
export function screenMessage(message: SessionMessage, filters: ImportFilters, what: string): SessionMessage {
  const { input, results } = filters;
  if (!input && !results) return message;
  const text = (value: string) => admit(input, value, what).value;
  switch (message.role) {
    case 'system':
      return { ...message, content: text(message.content) };
    case 'user':
      return { ...message, content: screenParts(message.content, text) };
    case 'assistant':
      return screenReply(message, input, what);
    case 'tool':
      for (const name of [message.toolCallId, message.name]) assertClean(input, name, what);
      return { ...message, content: admit(results, text(message.content), what).value };
  }
}

type User = Extract<SessionMessage, { role: 'user' }>;
type Reply = Extract<SessionMessage, { role: 'assistant' }>;

/** Images are not filtered. */
function screenParts(content: User['content'], text: (value: string) => string): User['content'] {
  if (typeof content === 'string') return text(content);
  return content.map((part) => (part.type === 'text' ? { ...part, text: text(part.text) } : part));
}

function screenReply(message: Reply, filter: ContentFilter | null, what: string): Reply {
  const text = (value: string) => admit(filter, value, what).value;
  const { content, reasoning, toolCalls, signedReasoning, ...rest } = message;
  for (const { id, name } of toolCalls ?? []) for (const one of [id, name]) assertClean(filter, one, what);
  // A provider rejects changed state, but does not need it.
  const isClean = admit(filter, (signedReasoning?.blocks ?? []) as unknown as JsonValue, what).masked === undefined;
  return {
    ...rest,
    content: text(content),
    ...(reasoning !== undefined && { reasoning: text(reasoning) }),
    ...(toolCalls && { toolCalls: toolCalls.map((call) => ({ ...call, arguments: text(call.arguments) })) }),
    ...(signedReasoning && isClean && { signedReasoning }),
  };
}

function assertClean(filter: ContentFilter | null, name: string, what: string): void {
  const { masked } = admit(filter, name, what);
  if (!masked) return;
  const message = `The ${what} was not taken: the id or the name of a call holds ${masked.join(', ')}. Change it and send the import again.`;
  throw new AppError('INPUT_BLOCKED', message, { details: { found: masked } });
}

/** Turns converted before yielding to the event loop. */
const TURNS_AT_ONCE = 20;

/** Converts the turns of an import: screened, counted, and numbered from 1. */
@Injectable()
export class ImportedTurnFactory {
  constructor(
    private readonly counters: TokenCounterRegistry,
    private readonly policies: SecurityPolicies,
  ) {}

  /**
   * Yields regularly, so that a long session does not block the event loop.
   * @param at path of the session in the request, such as `session.`
   * @throws AppError `INPUT_BLOCKED`
   */
  async create(turns: SessionExport['turns'], at: string): Promise<StoredTurn[]> {
    const counter = await this.counters.of('');
    const filters: ImportFilters = { input: this.policies.filter('input'), results: this.policies.filter('results') };
    const stored: StoredTurn[] = [];
    for (const [index, turn] of turns.entries()) {
      const messages = toMessages(turn).map((message, nth) =>
        screenMessage(message, filters, `import (${at}turns.${index}.messages.${nth})`),
      );
      const isMarked = turn.pinned || messages.some(({ role }) => role === 'system');
      stored.push({
        turn: index + 1,
        runId: turn.run_id,
        status: turn.status,
        messages,
        ...countTurn(counter, messages),
        mark: isMarked ? PINNED : null,
        createdAt: turn.created_at,
      });
      if (stored.length % TURNS_AT_ONCE === 0) await setImmediate();
    }
    return stored;
  }
}
