import { AppError, messageOf } from '../errors/index.js';
import type { ContextKey, StateType } from './tool-state.types.js';

export function contextNotFound(id: string): AppError {
  return new AppError('TOOL_STATE_NOT_FOUND', `There is no tool state "${id}".`, { details: { context_id: id } });
}

export function versionNotFound(id: string, version: number, kept: readonly number[]): AppError {
  const which = kept.length > 0 ? `Stored versions: ${kept.join(', ')}.` : 'No version is stored.';
  return new AppError('TOOL_STATE_NOT_FOUND', `Version ${version} of tool state "${id}" is not stored. ${which}`, {
    details: { context_id: id, version, kept },
  });
}

export function stateTooLarge({ tool }: ContextKey, type: StateType, bytes: number, most: number): AppError {
  return new AppError(
    'TOOL_STATE_TOO_LARGE',
    `The ${type} state of tool "${tool}" would have ${bytes} bytes, above the maximum of ${most}: the previous state is unchanged. Store less in it, or raise maxStateBytes.`,
    { details: { tool, type, bytes, max_bytes: most } },
  );
}

export function stateConflict({ tool }: ContextKey, type: StateType, basedOn: number, version: number): AppError {
  return new AppError(
    'TOOL_STATE_CONFLICT',
    `The ${type} state of tool "${tool}" was changed meanwhile: it has version ${version}, and the change was made on ${basedOn}. Read it again, then change it.`,
    { isRetryable: true, details: { tool, type, based_on: basedOn, version } },
  );
}

/** Whether an error rejects a change permanently: a retry cannot succeed. */
export function isRefusedChange(error: unknown): error is AppError {
  if (!(error instanceof AppError)) return false;
  // A contended write also has `TOOL_STATE_CONFLICT`, but no `based_on`; it may be retried.
  return error.code === 'TOOL_STATE_TOO_LARGE' || error.details?.['based_on'] !== undefined;
}

export function tooManyContexts({ session, tool }: ContextKey, most: number): AppError {
  return new AppError(
    'TOOL_STATE_LIMIT',
    `Tool "${tool}" cannot store a state in "${session}": ${most} tools have one already, which is the limit. Delete one, or raise the limit.`,
    { details: { tool, session, max: most } },
  );
}

export function contended(id: string): AppError {
  return new AppError(
    'TOOL_STATE_CONFLICT',
    `Tool state "${id}" has too many concurrent changes: nothing was changed; try again.`,
    { isRetryable: true, details: { context_id: id } },
  );
}

export function stateDamaged(cause: unknown): AppError {
  const message = `The stored state of a tool is damaged: ${messageOf(cause)}. Delete it, or restore it from a backup.`;
  return new AppError('TOOL_STATE_UNAVAILABLE', message, { cause });
}

export function storeNotConfigured(manager: string): AppError {
  return new AppError(
    'TOOL_STATE_UNAVAILABLE',
    `Changes of \`${manager}\` states are pending for a store that is no longer configured: restore TOOL_STATE_FORMAT, TOOL_STATE_PATH or TOOL_STATE_REDIS_URL until they are applied.`,
  );
}

const DAMAGES: ReadonlySet<string> = new Set(['TOOL_STATE_UNAVAILABLE', 'DATA_TAMPERED', 'ENCRYPTION_KEY_UNKNOWN']);

/** Whether an error means that one context is permanently unreadable; an unavailable store affects all contexts. */
export function isDamage(error: unknown): error is AppError {
  return error instanceof AppError && !error.isRetryable && DAMAGES.has(error.code);
}
