import { AppError, messageOf } from '../../errors/index.js';

/** @param what subject of the message, with an article: `The Redis` */
export function storeUnavailable(what: string, cause: unknown): AppError {
  return new AppError(
    'TOOL_STATE_UNAVAILABLE',
    `${what} that stores the states of tools is unavailable: ${messageOf(cause)}. The last change may or may not be stored; make sure that it is available, then try again.`,
    { isRetryable: true, cause },
  );
}

/** @param how the damage, without a full stop */
export function stateFileDamaged(path: string, how: string, cause?: unknown): AppError {
  return new AppError(
    'TOOL_STATE_UNAVAILABLE',
    `The file ${path} of a tool's state cannot be read: ${how}. Mend it or move it away; until then the state is neither read nor written.`,
    { cause, details: { file: path } },
  );
}
