import type { DirectCallRequest } from '../agent/index.js';
import { parseIdempotencyKey } from './idempotency-key.parser.js';
import type { ToolCallDto } from './tool-call.dto.js';

/** @param body validated. @param key the `Idempotency-Key`. @throws AppError `VALIDATION_FAILED` for an invalid key */
export function toDirectCall(tool: string, body: ToolCallDto, key: string | undefined): DirectCallRequest {
  const idempotency = parseIdempotencyKey(key, `tools/${tool}/call`, body);
  const { arguments: args, sessionId, deadlineMs } = body;
  return {
    ...(args !== undefined && { arguments: args }),
    ...(sessionId !== undefined && { sessionId }),
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(idempotency && { idempotency }),
  };
}
