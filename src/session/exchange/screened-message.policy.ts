import { AppError } from '../../errors/index.js';
import type { JsonValue } from '../../kernel/index.js';
import { admit, type ContentFilter } from '../../security/index.js';
import type { SessionMessage } from '../session.types.js';

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
