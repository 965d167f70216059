import type { BackgroundRequest } from '../agent/index.js';
import type { BackgroundRequestDto } from './background-request.dto.js';
import type { ChatRequestDto } from './chat-request.dto.js';
import { parseIdempotencyKey } from './idempotency-key.parser.js';

/** What a body may say of the question itself; all else is about the answer. */
const FIELDS = [
  'sessionId',
  'agent',
  'metadata',
  'references',
  'model',
  'parameters',
  'toolChoice',
  'responseFormat',
  'images',
  'priority',
  'deadlineMs',
] as const satisfies (keyof BackgroundRequest & keyof BackgroundRequestDto)[];

/**
 * What a body asks of an agent.
 * @param route tells requests with the same body and key apart
 * @throws AppError `VALIDATION_FAILED` when the key is none
 */
export function toAgentRequest(
  body: ChatRequestDto | BackgroundRequestDto,
  route: string,
  key: string | undefined,
): BackgroundRequest {
  const idempotency = parseIdempotencyKey(key, route, body);
  const given = body as BackgroundRequestDto;
  const wanted = FIELDS.flatMap((field) => (given[field] === undefined ? [] : [[field, given[field]] as const]));
  return { query: body.query, ...Object.fromEntries(wanted), ...(idempotency && { idempotency }) };
}
