import { AppError } from '../errors/index.js';
import { fieldMistake } from '../kernel/index.js';
import { nearNames } from '../kernel/text/index.js';
import type { ChatOptions } from './agent-reply.mapper.js';

const OPTIONS = ['sessionId', 'newSession', 'model', 'parameters', 'toolChoice', 'responseFormat', 'images'] as const;
export const STREAM_OPTIONS = ['onRestart', 'onLeave'] as const;

/** A part of a message: a text, or an image as an https URL or a data URI of PNG, JPEG, GIF or WebP. */
export type ChatPart =
  { readonly type: 'text'; readonly text: string } | { readonly type: 'image'; readonly url: string };

/** A message of the user: a text, parts, or an object with one of them. The images follow the texts. */
export type ChatMessage =
  string | readonly ChatPart[] | { readonly role: 'user'; readonly content: string | readonly ChatPart[] };

/**
 * The request of a message.
 * @param ownSession session for options without `sessionId` and `newSession`
 * @param more names of further options that the caller supports
 * @throws AppError `VALIDATION_FAILED` for an invalid message, an unknown option, or both `sessionId` and `newSession`
 */
export function toRequest<O extends ChatOptions>(
  message: ChatMessage,
  given: O,
  ownSession: string,
  more: readonly string[] = [],
): Omit<O, 'newSession'> & { readonly query: string } {
  assertKnown(given, [...OPTIONS, ...more]);
  const { newSession: _isNew, images = [], ...options } = given;
  const sessionId = sessionOf(given, ownSession);
  const parts = partsOf(message);
  const shown = [...parts.flatMap((part) => (part.type === 'image' ? [{ url: part.url }] : [])), ...images];
  return {
    ...(options as Omit<O, 'newSession'>),
    query: parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'),
    ...(sessionId !== undefined && { sessionId }),
    ...(shown.length > 0 && { images: shown }),
  };
}

function sessionOf({ newSession = false, sessionId }: ChatOptions, ownSession: string): string | undefined {
  if (typeof newSession !== 'boolean') throw invalid('newSession', 'must be true or false', newSession);
  if (newSession && sessionId !== undefined)
    throw invalid('newSession', 'excludes sessionId: give one of them', newSession);
  return newSession ? undefined : (sessionId ?? ownSession);
}

/** Rejects unknown options, which untyped callers can pass. */
function assertKnown(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const [near] = nearNames(unknown, known);
  const remedy = near === undefined ? `use one of ${known.join(', ')}` : `did you mean "${near}"?`;
  throw invalid(unknown, `is not an option: ${remedy}`, unknown, 'isOption');
}

function partsOf(message: ChatMessage): readonly ChatPart[] {
  const content = isObject(message) ? contentOf(message) : message;
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw invalid('message', 'must be a text, parts, or { role: "user", content }', content);
  for (const [at, part] of (content as readonly unknown[]).entries()) {
    const { type, text, url } = (part ?? {}) as Readonly<Record<string, unknown>>;
    const isPart = (type === 'text' && typeof text === 'string') || (type === 'image' && typeof url === 'string');
    if (!isPart) throw invalid(`message.${at}`, 'must be { type: "text", text } or { type: "image", url }', part);
  }
  return content as readonly ChatPart[];
}

function contentOf({ role, content }: { readonly role: string; readonly content: unknown }): unknown {
  if (role !== 'user') throw invalid('message.role', 'must be "user": other messages come from the session', role);
  return content;
}

function isObject(message: unknown): message is { readonly role: string; readonly content: unknown } {
  return typeof message === 'object' && message !== null && !Array.isArray(message);
}

function invalid(field: string, problem: string, received: unknown, rule = 'isMessage'): AppError {
  return new AppError('VALIDATION_FAILED', `${field} ${problem}`.replace(/(?<!\?)$/, '.'), {
    details: { errors: [fieldMistake(field, problem, rule, received)] },
  });
}
