import { createHash } from 'node:crypto';
import { AppError } from '../errors/index.js';
import { fieldMistake } from '../kernel/index.js';
import { MAX_IMAGES, parseImage } from '../kernel/media/index.js';
import type { AgentRequest, GivenConversation } from '../agent/index.js';
import type { Message, ToolCall, UserMessage } from '../llm/chat/index.js';

/** A message of a client, in the form that all its protocols have in common. */
export interface ClientMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly text: string;
  /** URLs of images; of a user message only. */
  readonly images: readonly string[];
  /** Calls of an assistant message. */
  readonly calls: readonly ToolCall[];
  /** The call that a tool message answers. */
  readonly callId?: string;
  /** Whether it is a call of this server or its result, which only some protocols show; not part of the hash. */
  readonly isServer?: true;
  /** The place in the request, for errors. */
  readonly at: string;
}

/** The question of a request without a text: the answer continues the conversation. */
const NO_QUESTION = 'Continue.';
const ONLY_IMAGES = '[image]';

/**
 * Splits a conversation into the agent's input: the last message is the question, unless it is the result of a call.
 * @param hasSession whether a session has the earlier messages
 * @throws AppError `VALIDATION_FAILED` for a call without its result, and a result without its call
 */
export function toInput(
  messages: readonly ClientMessage[],
  hasSession: boolean,
): Pick<AgentRequest, 'query' | 'images' | 'conversation'> {
  const talk = messages.filter(({ role }) => role !== 'system');
  assertPaired(talk);
  const last = talk.at(-1);
  if (!last) throw invalid('messages', 'must contain a message of the user');
  const conversation = toConversation(messages, talk, hasSession);
  if (last.role === 'tool') return { query: textOf(talk.findLast(({ role }) => role === 'user')), conversation };
  if (last.role === 'assistant') return { query: NO_QUESTION, conversation };
  const images = last.images.map((url) => ({ url }));
  return { query: textOf(last), ...(images.length > 0 && { images }), conversation };
}

function toConversation(
  messages: readonly ClientMessage[],
  talk: readonly ClientMessage[],
  hasSession: boolean,
): GivenConversation {
  const instructions = messages.filter(({ role }) => role === 'system').map(({ text }) => text);
  const lastRole = talk.at(-1)?.role;
  const own = withoutServer(messages);
  return {
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
    ...(!hasSession && { history: toHistory(lastRole === 'user' ? talk.slice(0, -1) : talk) }),
    ...(lastRole === 'tool' && !hasSession && { isContinued: true }),
    ...(talk.some(({ role, isServer }) => role === 'tool' && !isServer) && { hasForeignResults: true }),
    messages: { count: own.length, hash: hashOf(own) },
  };
}

/** The messages that the client and the model wrote. */
export function withoutServer(messages: readonly ClientMessage[]): readonly ClientMessage[] {
  return messages.filter(({ isServer }) => !isServer);
}

/** Hash of messages: equal for two requests with the same conversation, whatever the form of their messages. */
export function hashOf(messages: readonly ClientMessage[]): string {
  const same = messages.map(({ role, text, images, calls, callId }) => [role, text, images, calls, callId ?? null]);
  return createHash('sha256').update(JSON.stringify(same)).digest('base64');
}

function textOf(message: ClientMessage | undefined): string {
  if (!message) return NO_QUESTION;
  return message.text === '' && message.images.length > 0 ? ONLY_IMAGES : message.text;
}

/** Providers refuse a call without its result, and a result without its call. */
function assertPaired(messages: readonly ClientMessage[]): void {
  const open = new Set<string>();
  for (const { role, calls, callId = '', at } of messages) {
    if (role === 'tool') {
      if (!open.delete(callId))
        throw invalid(at, `answers the call "${callId}", which is not a call of the message before`);
      continue;
    }
    const [missing] = open;
    if (missing !== undefined) throw invalid(at, `must be the result of the call "${missing}"`);
    for (const { id } of calls) open.add(id);
  }
  const [missing] = open;
  if (missing !== undefined) throw invalid('messages', `must end with the result of the call "${missing}"`);
}

function toHistory(messages: readonly ClientMessage[]): Message[] {
  const names = new Map(messages.flatMap(({ calls }) => calls.map(({ id, name }) => [id, name] as const)));
  const images = messages.reduce((count, message) => count + message.images.length, 0);
  let tooMany = images - MAX_IMAGES;
  return messages.map((message): Message => {
    const { role, text, calls, callId = '' } = message;
    if (role === 'tool') return { role, toolCallId: callId, name: names.get(callId) ?? '', content: text };
    if (role === 'assistant') return { role, content: text, ...(calls.length > 0 && { toolCalls: calls }) };
    const left = message.images.slice(Math.max(0, tooMany));
    tooMany -= message.images.length;
    return toUser({ ...message, images: left });
  });
}

function toUser({ text, images, at }: ClientMessage): UserMessage {
  if (images.length === 0) return { role: 'user', content: text };
  const parts = images.map((url) => {
    const image = parseImage(url);
    if (typeof image === 'string') throw invalid(at, `has an image that cannot be read: ${image}`);
    return { type: 'image' as const, url: image.url };
  });
  return { role: 'user', content: [...parts, { type: 'text', text: text === '' ? ONLY_IMAGES : text }] };
}

export function invalid(field: string, message: string, value?: unknown): AppError {
  return new AppError('VALIDATION_FAILED', `The request is not valid: ${field} ${message}.`, {
    details: { errors: [fieldMistake(field, message, 'isValid', value)] },
  });
}
