import type { ForkEdit, ForkRequest } from '../agent/index.js';
import type { ForkRequestDto } from './run-fork.dto.js';

/** The request as the agents take it. */
export function toForkRequest({ fromStep, sessionId, edit }: ForkRequestDto): ForkRequest {
  return {
    fromStep,
    ...(sessionId !== undefined && { sessionId }),
    // What is in the parts is checked where the definition is made.
    ...(edit && { edit: edit as ForkEdit }),
  };
}
