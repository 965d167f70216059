import { AppError, messageOf } from '../errors/index.js';
import { serverFault } from '../persistence/index.js';

const SERVER = {
  setting: 'the data source',
  right: 'its user may not read it: grant it CONNECT on the database, and SELECT on the tables that agents may read',
};

/** The database's error for a statement, so that the model can correct it. */
export function readRefused(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError('TOOL_FAILED', `The database rejected the statement: ${messageOf(cause)}`, { cause });
}

export function readTooLong(timeoutMs: number): AppError {
  return new AppError(
    'TOOL_FAILED',
    `The query took longer than ${timeoutMs} ms and was stopped: select less, or filter by an indexed column.`,
  );
}

export function readTooLarge(maxBytes: number): AppError {
  return new AppError(
    'TOOL_FAILED',
    `The result is larger than ${maxBytes} bytes and was not read: select fewer or shorter columns and rows.`,
  );
}

export function readCancelled(): AppError {
  return new AppError('TOOL_CANCELLED', 'The query was cancelled.');
}

/** @param reason the problem, and the remedy */
export function unsuitable(reason: string, cause?: unknown): AppError {
  return new AppError('CONFIG_INVALID', `The database is not suitable for agents: ${reason}`, { cause });
}

/** @param address of the server, without a password */
export function notOpened(address: string, cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  const fault = serverFault(cause, SERVER) ?? `${messageOf(cause)}: correct ${SERVER.setting}`;
  return unsuitable(`${address} cannot be opened: ${fault}.`, cause);
}
