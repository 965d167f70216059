import type { BackgroundRequest } from '../agent/index.js';
import type { BackgroundRequestDto } from './background-request.dto.js';
import type { ChatRequestDto } from './chat-request.dto.js';
import { parseIdempotencyKey } from './idempotency-key.parser.js';

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
  const { query, sessionId, agent, metadata, references } = body;
  const { priority, deadlineMs } = body as BackgroundRequestDto;
  const idempotency = parseIdempotencyKey(key, route, body);
  return {
    query,
    ...(sessionId !== undefined && { sessionId }),
    ...(agent !== undefined && { agent }),
    ...(metadata !== undefined && { metadata }),
    ...(references !== undefined && { references }),
    ...(priority !== undefined && { priority }),
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(idempotency && { idempotency }),
  };
}
