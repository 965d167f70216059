import { messageOf } from '../errors/index.js';

const MAX_DEPTH = 3;
const MAX_ERRORS = 10;

/** An error in the log. */
export interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string | number;
  readonly cause?: LoggedError;
  readonly errors?: readonly LoggedError[];
}

/**
 * Converts a thrown value for the log. It omits other properties: libraries store requests with headers, configurations
 * and bodies there. Causes and the errors of an aggregate are included three levels deep.
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

/** Tests by shape: errors of another realm are not instances of our `Error`. */
function isErrorLike(thrown: unknown): thrown is ErrorLike {
  return typeof (thrown as { message?: unknown } | null | undefined)?.message === 'string';
}
