import type { Params } from 'nestjs-pino';
import type { DestinationStream, LogFn, Logger } from 'pino';
import { ConsoleLogger } from '@nestjs/common';
import type { ServerConfig } from '../config/namespaces/index.js';
import { AppError, currentLogFields, messageOf } from '../errors/index.js';
import type { SecurityPolicies } from '../tool-policy/index.js';
import { maskLine } from './log-secret.policy.js';

/** Nest's contexts that log every module and route (about forty lines); logged at `debug` only. */
export const BOOT_CONTEXTS: ReadonlySet<unknown> = new Set([
  'InstanceLoader',
  'NestApplication',
  'NestFactory',
  'RouterExplorer',
  'RoutesResolver',
]);

/** The logger until the application's own is ready. It skips an `AppError`: its catcher prints the message. */
export class BootLog extends ConsoleLogger {
  override log(message: unknown, ...rest: unknown[]): void {
    if (!BOOT_CONTEXTS.has(rest.at(-1))) super.log(message, ...rest);
  }

  override error(message: unknown, ...rest: unknown[]): void {
    if (!(message instanceof AppError)) super.error(message, ...rest);
  }
}

const MAX_DEPTH = 3;
const MAX_ERRORS = 10;

/** An error in the log. */
interface LoggedError {
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

const DEBUG = 20;
const INFO = 30;
/** The numbers of pino's levels. */
const NUMBER_OF: Readonly<Record<ServerConfig['logLevel'], number>> = {
  trace: 10,
  debug: DEBUG,
  info: INFO,
  warn: 40,
  error: 50,
  fatal: 60,
  silent: Number.POSITIVE_INFINITY,
};

type LogRules = Pick<ServerConfig, 'logLevel' | 'contextLevels' | 'worker'>;

/**
 * Structured logs, one JSON object per line, to `stream`. The lines of a request have its `request_id` (`logRequests`), those of a
 * run its `run_id` and `session_id`.
 */
export function logOptions(
  rules: LogRules,
  stream: DestinationStream,
  policies: SecurityPolicies,
  redact: (line: string) => string,
): Params {
  const { worker } = rules;
  const ofWorker = worker === undefined ? undefined : { worker };
  return {
    // Fastify hooks log requests: the middleware creates two loggers for each request, even without log lines.
    forRoutes: [],
    pinoHttp: {
      level: lowestOf(rules),
      stream,
      autoLogging: false,
      // Otherwise each serializer receives the output of pino's own one, with every property of an error.
      wrapSerializers: false,
      serializers: { err: (error: unknown) => toLoggedError(error) },
      // Pino changes the object.
      mixin: () => ({ ...ofWorker, ...currentLogFields() }),
      hooks: { logMethod: createFilter(rules), streamWrite: (line) => redact(maskLine(policies.log, line)) },
    },
  };
}

/** Pino has one level for all contexts: the lowest. */
function lowestOf({ logLevel, contextLevels }: LogRules): ServerConfig['logLevel'] {
  return Object.values(contextLevels).reduce((a, b) => (NUMBER_OF[b] < NUMBER_OF[a] ? b : a), logLevel);
}

/** Lowers the lines of Nest's start, and drops lines below the level of their context. */
function createFilter({ logLevel, contextLevels }: LogRules) {
  const numbers = new Map<unknown, number>(
    Object.entries(contextLevels).map(([context, level]) => [context, NUMBER_OF[level]]),
  );
  const others = NUMBER_OF[logLevel];
  return function filter(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void {
    const context = (args[0] as { context?: unknown } | null | undefined)?.context;
    if (level === INFO && BOOT_CONTEXTS.has(context)) return this.debug(...args);
    if (level >= (numbers.get(context) ?? others)) method.apply(this, args);
  };
}
