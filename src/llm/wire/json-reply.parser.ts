import { parseExactJson } from '../../common/index.js';
import { claimedStatus, isHtml, providerKind, providerMessage } from './provider-message.parser.js';
import { BadReplyError, StatusError } from './wire-failure.error.js';

/**
 * Parses the body of a reply, or the data of one stream event.
 * @param statusOfKind maps the provider's error type to an HTTP status
 * @throws BadReplyError for text that is not a JSON object; that or StatusError for a provider error
 */
export function parseJsonReply(
  text: string,
  statusOfKind: (kind: string | undefined) => number | undefined = () => undefined,
): Readonly<Record<string, unknown>> {
  if (text.trim() === '') throw new BadReplyError('an empty body');
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch {
    throw new BadReplyError(isHtml(text) ? 'an HTML page instead of JSON' : 'something that is not JSON');
  }
  if (typeof value !== 'object' || value === null) throw new BadReplyError('JSON that is not a reply');
  const { error } = value as { readonly error?: unknown };
  if (error) throw errorInside(error, statusOfKind);
  return value as Readonly<Record<string, unknown>>;
}

function errorInside(error: unknown, statusOfKind: (kind: string | undefined) => number | undefined): Error {
  const kind = providerKind(error);
  const status = claimedStatus(error) ?? statusOfKind(kind);
  const said = providerMessage(error);
  if (status !== undefined) return new StatusError(status, said, kind);
  return new BadReplyError(`an error: ${said}`);
}
