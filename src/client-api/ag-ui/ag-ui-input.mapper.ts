import { z } from 'zod';
import type { ClientTool } from '../../agent/index.js';
import { isJsonObject } from '../../kernel/json/index.js';
import { parseClientCallId } from '../client-call-id.js';
import { type ClientMessage, invalid } from '../client-conversation.js';
import { parsedBy } from '../client-request.parser.js';
import { ownMessages, resultId } from './ag-ui-id.js';
import { type AgUiInput, agUiInputSchema, type AgUiMessage } from './ag-ui-input.schema.js';

const parts = z.array(z.looseObject({ type: z.string() }));
const source = z.looseObject({ type: z.string(), value: z.string(), mimeType: z.string().nullish() });
/** Images before 1.0. */
const binary = z.looseObject({ mimeType: z.string(), data: z.string().nullish(), url: z.string().nullish() });

interface ContentOptions {
  /** The place of the message, for errors. */
  readonly at: string;
  /** Whether images are read; by default, a note takes the place of an image. */
  readonly hasImages: boolean;
}

/**
 * The text and the URLs of images of a message. A note takes the place of other content.
 * @throws AppError `VALIDATION_FAILED` for content that is neither a text nor a list of parts
 */
export function readContent(
  content: unknown,
  { at, hasImages }: ContentOptions,
): { readonly text: string; readonly images: string[] } {
  if (typeof content === 'string') return { text: content, images: [] };
  const parsed = parts.nullish().safeParse(content);
  if (!parsed.success) throw invalid(`${at}.content`, 'must be a text, or a list of parts with a `type`', content);
  const texts: string[] = [];
  const images: string[] = [];
  for (const part of parsed.data ?? []) {
    const url = hasImages ? imageUrl(part) : undefined;
    if (url !== undefined) images.push(url);
    else if (typeof part['text'] === 'string') texts.push(part['text']);
    else texts.push(`[${part.type} left out]`);
  }
  return { text: texts.join('\n'), images };
}

function imageUrl(part: z.output<typeof parts>[number]): string | undefined {
  if (part.type === 'binary') return binaryUrl(part);
  const parsed = source.safeParse(part['source']);
  if (part.type !== 'image' || !parsed.success) return undefined;
  const { type, value, mimeType } = parsed.data;
  if (type === 'url') return value;
  return type === 'data' ? dataUrl(mimeType ?? '', value) : undefined;
}

function binaryUrl(part: unknown): string | undefined {
  const parsed = binary.safeParse(part);
  if (!parsed.success || !parsed.data.mimeType.startsWith('image/')) return undefined;
  const { mimeType, data, url } = parsed.data;
  return typeof data === 'string' ? dataUrl(mimeType, data) : (url ?? undefined);
}

function dataUrl(mimeType: string, data: string): string {
  return data.startsWith('data:') ? data : `data:${mimeType};base64,${data}`;
}

/** A message with its id, by which the messages of a run are found. */
export interface IdentifiedMessage extends ClientMessage {
  readonly id: string;
}

/** The roles of AG-UI; messages with others are ignored. */
const ROLES = new Set(['user', 'assistant', 'system', 'developer', 'tool', 'reasoning', 'activity']);
/** Of a message that is not the client's. */
const NO_ID = '';
const NO_RESULT = 'The call has no result.';

const toolCalls = z
  .array(
    z.looseObject({
      id: z.string().min(1).max(500),
      function: z.looseObject({ name: z.string(), arguments: z.string() }),
    }),
  )
  .nullish();

/** @throws AppError `VALIDATION_FAILED` with the mistakes */
export function parseAgUiInput(body: unknown): AgUiInput {
  return parsedBy(agUiInputSchema, body);
}

/** The messages of a request that a snapshot repeats: those with an id and a known role, without empty members. */
export function toKnownMessages({ messages }: AgUiInput): AgUiMessage[] {
  return messages.flatMap((message) => {
    if (typeof message.id !== 'string' || !ROLES.has(message.role)) return [];
    const members = Object.entries(message).filter(([, value]) => value !== null && value !== undefined);
    return [Object.fromEntries(members) as AgUiMessage];
  });
}

/** The texts that follow the instructions of the agent. */
export function toInstructions({ messages, context }: AgUiInput): string {
  const texts = messages.flatMap((message, at) => {
    if (message.role !== 'system' && message.role !== 'developer') return [];
    return [readContent(message['content'], { at: `messages.${at}`, hasImages: false }).text];
  });
  const given = (context ?? []).map(({ description, value }) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
    return description ? `${description}:\n${text}` : text;
  });
  return [...texts, ...given].filter((text) => text !== '').join('\n\n');
}

/**
 * The conversation, without instructions and reasoning. Clients abort runs and edit histories, so that a call may lack its
 * result, or a result its call: each call gets exactly one result, right after its message.
 */
export function toConversation({ messages }: AgUiInput): IdentifiedMessage[] {
  const talk = messages.flatMap((message, at) => toMessage(message, `messages.${at}`) ?? []);
  const results = new Map<string, IdentifiedMessage>();
  for (const message of talk) if (message.role === 'tool') results.set(message.callId ?? '', message);
  const seen = new Set<string>();
  return talk.flatMap((message) => {
    if (message.role === 'tool') return [];
    const calls = message.calls.filter(({ id }) => !seen.has(id));
    for (const { id } of calls) seen.add(id);
    const answers = calls.map(({ id }) => results.get(id) ?? missingResult(id, message.at));
    return [{ ...message, calls }, ...answers];
  });
}

/**
 * The conversation as the run of the last result sees it: without its own texts, and without results that the client did
 * not make: those of tools of the server, and missing ones.
 */
export function toContinuation(talk: readonly IdentifiedMessage[]): IdentifiedMessage[] {
  const runId = parseClientCallId(talk.at(-1)?.callId ?? '')?.runId;
  if (runId === undefined) return [...talk];
  const isOwnText = ({ role, id, calls }: IdentifiedMessage) =>
    role === 'assistant' && calls.length === 0 && id.startsWith(ownMessages(runId));
  const isOwnResult = ({ id, callId = '' }: IdentifiedMessage) =>
    (id === resultId(callId) || id === NO_ID) && parseClientCallId(callId)?.runId === runId;
  return talk.filter((message) => !isOwnText(message) && !isOwnResult(message));
}

/** Tools that the client executes. */
export function toClientTools(tools: readonly unknown[]): ClientTool[] {
  return tools.flatMap((tool) => {
    const { name, description, parameters } = isJsonObject(tool) ? tool : {};
    if (typeof name !== 'string') return [];
    const hasSchema = isJsonObject(parameters) && Object.keys(parameters).length > 0;
    return [
      {
        name,
        ...(typeof description === 'string' && { description }),
        ...(hasSchema && { inputSchema: { type: 'object', ...parameters } }),
      },
    ];
  });
}

function toMessage(message: AgUiInput['messages'][number], at: string): IdentifiedMessage | undefined {
  const { role, id, content, toolCallId } = message;
  const base = { id: id ?? at, images: [], calls: [], at };
  const read = (hasImages: boolean) => readContent(content, { at, hasImages });
  switch (role) {
    case 'user':
      return { ...base, role, ...read(true) };
    case 'tool':
      if (typeof toolCallId !== 'string') throw invalid(`${at}.toolCallId`, 'must be the id of a call', toolCallId);
      return { ...base, role, callId: toolCallId, text: resultText(message, read(false).text) };
    case 'assistant': {
      const calls = readCalls(message['toolCalls'], at);
      const { text } = read(false);
      return text === '' && calls.length === 0 ? undefined : { ...base, role, text, calls };
    }
    default:
      return undefined;
  }
}

function readCalls(value: unknown, at: string): ClientMessage['calls'] {
  const parsed = toolCalls.safeParse(value);
  if (!parsed.success) throw invalid(`${at}.toolCalls`, 'must be calls with `id` and `function`', value);
  return (parsed.data ?? []).map(({ id, function: { name, arguments: args } }) => ({ id, name, arguments: args }));
}

function resultText({ error }: AgUiInput['messages'][number], text: string): string {
  return typeof error === 'string' && error !== '' && text === '' ? `Error: ${error}` : text;
}

function missingResult(callId: string, at: string): IdentifiedMessage {
  return { id: NO_ID, role: 'tool', callId, text: NO_RESULT, images: [], calls: [], at };
}
