import { messageOf } from './common/index.js';

const MAX_DEPTH = 3;
const MAX_ERRORS = 10;

/** An error as the log tells it. */
export interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string | number;
  readonly cause?: LoggedError;
  readonly errors?: readonly LoggedError[];
}

/**
 * What the log tells of a thrown value: none of the further properties, where libraries keep requests with their
 * headers, configurations and bodies. Causes and the errors of an aggregate are told three levels deep.
 */
export function toLoggedError(thrown: unknown, depth = 0): LoggedError {
  if (!isErrorLike(thrown)) return { type: typeof thrown, message: messageOf(thrown) };
  const { name, message, stack, code } = thrown;
  return {
    type: typeof name === 'string' ? name : 'Error',
    message,
    ...(typeof stack === 'string' && { stack }),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(depth < MAX_DEPTH && inner(thrown, depth + 1)),
  };
}

function inner({ cause, errors }: ErrorLike, depth: number): Pick<LoggedError, 'cause' | 'errors'> {
  return {
    ...(cause !== undefined && { cause: toLoggedError(cause, depth) }),
    ...(Array.isArray(errors) && { errors: errors.slice(0, MAX_ERRORS).map((one) => toLoggedError(one, depth)) }),
  };
}

type ErrorLike = { readonly message: string } & Readonly<
  Partial<Record<'name' | 'stack' | 'code' | 'cause' | 'errors', unknown>>
>;

/** Errors of another realm are no instances of ours. */
function isErrorLike(thrown: unknown): thrown is ErrorLike {
  return typeof (thrown as { message?: unknown } | null | undefined)?.message === 'string';
}
