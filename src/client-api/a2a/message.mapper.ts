import type { AgentRequest, AgentRunInput, GivenImage } from '../../agent/index.js';
import { invalid } from '../client-conversation.js';
import { A2aError } from './a2a.error.js';
import type { A2aMessage, A2aPart } from './a2a.types.js';
import type { GivenMessage, GivenPart } from './a2a-request.schema.js';

/** Media types of messages, as the card of an agent declares them. */
export const INPUT_MODES = ['text/plain', 'application/json', 'image/png', 'image/jpeg', 'image/gif', 'image/webp'];
export const OUTPUT_MODES = ['text/plain', 'application/json'];

const ONLY_IMAGES = '[image]';

/** The question of a message: its texts and its data as JSON, and its images. */
export type Question = Pick<AgentRequest, 'query' | 'images'>;

/**
 * The question of a message.
 * @throws A2aError `CONTENT_TYPE_NOT_SUPPORTED` for a file that is no image
 */
export function toQuestion({ parts }: GivenMessage): Question {
  const texts = parts.flatMap(textOf);
  const images = parts.flatMap(imageOf);
  const query = texts.join('\n');
  if (query.trim() === '' && images.length === 0) throw invalid('message.parts', 'must contain a text');
  return { query: query.trim() === '' ? ONLY_IMAGES : query, ...(images.length > 0 && { images }) };
}

function textOf({ text, data }: GivenPart): string[] {
  if (text !== undefined) return [text];
  return data === undefined ? [] : [JSON.stringify(data)];
}

function imageOf({ raw, url, mediaType = '' }: GivenPart): GivenImage[] {
  if (raw === undefined && url === undefined) return [];
  const isImage = mediaType.startsWith('image/') && INPUT_MODES.includes(mediaType);
  if (isImage) return [{ url: url ?? `data:${mediaType};base64,${raw}` }];
  const given = mediaType === '' ? 'without a mediaType' : `of the type "${mediaType.slice(0, 100)}"`;
  const message = `A file ${given} is not supported; these are: ${INPUT_MODES.join(', ')}.`;
  throw new A2aError('CONTENT_TYPE_NOT_SUPPORTED', message);
}

/** @throws A2aError `CONTENT_TYPE_NOT_SUPPORTED` if the client accepts no type of our answers */
export function assertAccepted(accepted: readonly string[] = []): void {
  const isAccepted = (mode: string) => OUTPUT_MODES.includes(mode) || ['*/*', 'text/*', 'application/*'].includes(mode);
  if (accepted.length === 0 || accepted.some(isAccepted)) return;
  const message = `acceptedOutputModes must contain one of ${OUTPUT_MODES.join(', ')}.`;
  throw new A2aError('CONTENT_TYPE_NOT_SUPPORTED', message);
}

/** The message that started a run. */
export function toUserMessage(
  { query, images = [], metadata }: AgentRunInput,
  { taskId, contextId }: Pick<A2aMessage, 'taskId' | 'contextId'>,
): A2aMessage {
  const messageId = metadata?.['message_id'];
  return {
    messageId: typeof messageId === 'string' ? messageId : `${taskId}:question`,
    role: 'ROLE_USER',
    parts: [{ text: query }, ...images.map(toImagePart)],
    ...(contextId !== undefined && { contextId }),
    ...(taskId !== undefined && { taskId }),
  };
}

const DATA_URI = /^data:([^;,]+);base64,(.*)$/s;

function toImagePart({ url }: GivenImage): A2aPart {
  const [, mediaType, raw] = DATA_URI.exec(url) ?? [];
  return raw === undefined ? { url } : { raw, mediaType: mediaType! };
}
