import { parseExactJson } from '../../kernel/index.js';
import { isHtml, providerKind, providerMessage, statusOf } from './provider-message.parser.js';
import { BadReplyError, StatusError } from './wire-failure.error.js';

type JsonReply = Readonly<Record<string, unknown>>;

/**
 * Parses the body of a reply, or the data of one stream event.
 * @throws BadReplyError for text that is not a JSON object; that or StatusError for a provider error
 */
export function parseJsonReply(text: string): JsonReply {
  if (text.trim() === '') throw new BadReplyError('an empty body');
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch {
    throw new BadReplyError(isHtml(text) ? 'an HTML page instead of JSON' : 'something that is not JSON');
  }
  if (typeof value !== 'object' || value === null) throw new BadReplyError('JSON that is not a reply');
  const reply = value as JsonReply;
  const error = reply['error'] || (isFlatError(reply) ? reply : undefined);
  if (error) throw errorInside(error);
  return reply;
}

/** An error without the member `error` (Mistral, vLLM: `object`; Cerebras: `message`; FastAPI: `detail`). */
function isFlatError({ object, type, choices, message, detail }: JsonReply): boolean {
  if (object === 'error' || type === 'error') return true;
  return choices === undefined && (typeof message === 'string' || detail !== undefined);
}

function errorInside(error: unknown): Error {
  const status = statusOf(error);
  const said = providerMessage(error);
  if (status !== undefined) return new StatusError(status, said, providerKind(error));
  return new BadReplyError(`an error: ${said}`);
}
