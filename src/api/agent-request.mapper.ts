import type { BackgroundRequest } from '../agent/index.js';
import type { BackgroundRequestDto } from './background-request.dto.js';
import type { ChatRequestDto } from './chat-request.dto.js';
import { parseIdempotencyKey } from './idempotency-key.parser.js';

/** Body fields that are part of the agent request. The other fields control the response. */
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
 * Converts a request body to an agent request.
 * @param route distinguishes requests with the same body and key
 * @throws AppError `VALIDATION_FAILED` for an invalid key
 */
export function toAgentRequest(
  body: ChatRequestDto | BackgroundRequestDto,
  route: string,
  key: string | undefined,
): BackgroundRequest {
  const idempotency = parseIdempotencyKey(key, route, body);
  const given = body as BackgroundRequestDto;
  const fields = FIELDS.flatMap((field) => (given[field] === undefined ? [] : [[field, given[field]] as const]));
  return { query: body.query, ...Object.fromEntries(fields), ...(idempotency && { idempotency }) };
}
