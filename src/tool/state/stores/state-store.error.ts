import { AppError, messageOf } from '../../../common/index.js';

/** @param what subject of the message, with an article: `The Redis` */
export function storeUnavailable(what: string, cause: unknown): AppError {
  return new AppError(
    'TOOL_STATE_UNAVAILABLE',
    `${what} that keeps the states of tools cannot be used: ${messageOf(cause)}. Nobody knows whether the last change was kept; see that it is there, then try again.`,
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
