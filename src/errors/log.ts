import { ConsoleLogger, Logger, type LoggerService } from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError, messageOf } from './app.error.js';

const SILENT: LoggerService = { log: () => undefined, warn: () => undefined, error: () => undefined };

/** Open applications of this process with Jackdaw's module, those of agents included. */
const applications = new Set<object>();
/** Logs of open agents, in the order of their creation. */
const logs: AgentLog[] = [];

/**
 * The log of an agent of `createAgent`. Nest's own logger, which all applications of the process share, stays as it is:
 * only lines of Jackdaw go to the agent's logger.
 */
export class AgentLog {
  private logger: LoggerService | undefined;

  static open(logger: LoggerService | undefined): AgentLog {
    const log = new AgentLog();
    if (logger !== undefined) log.replace(logger);
    logs.push(log);
    return log;
  }

  /** The logger of the newest open agent that has one: it receives all lines of Jackdaw. */
  static get given(): LoggerService | undefined {
    return logs.findLast(({ logger }) => logger !== undefined)?.logger;
  }

  /** Whether no application but open agents has Jackdaw: the console then receives warnings and errors only. */
  static get isScript(): boolean {
    return logs.length > 0 && applications.size <= logs.length;
  }

  /** Called by each application with Jackdaw's module at its start and at its end. */
  static count(application: object, isOpen: boolean): void {
    if (isOpen) applications.add(application);
    else applications.delete(application);
  }

  /** @param logger as for Nest, `false` of plain JavaScript writes no line */
  replace(logger: LoggerService | false): void {
    this.logger = logger || SILENT;
  }

  close(): void {
    const at = logs.indexOf(this);
    if (at !== -1) logs.splice(at, 1);
  }
}

type Fields = Readonly<Record<string, unknown>> & { readonly err?: unknown };

/**
 * Nest's logger for lines with fields, which are given as pino takes them: `log.warn({ run_id, err }, 'The run failed')`. A
 * logger of the application receives these arguments. Nest's own console receives the message, then the fields, and of an
 * error its message, with a stack only if the error is unexpected: an error's other properties may contain secrets.
 * All lines of Jackdaw use it, since `AgentLog` decides where they go while agents of `createAgent` are open.
 * Lines about the consequences of an outage of the storage have the level `debug`: the storage itself reports its outage once.
 */
export class Log extends Logger {
  /** Prints the lines that Nest buffers. */
  static override flush(): void {
    Logger.flush();
  }

  override get localInstance(): LoggerService {
    return AgentLog.given ?? super.localInstance;
  }

  override log(line: unknown, ...rest: unknown[]): void {
    if (!this.isQuiet) super.log(...this.arguments(line, rest));
  }

  override warn(line: unknown, ...rest: unknown[]): void {
    if (isOfOutage(line)) this.debug(line, ...rest);
    else super.warn(...this.arguments(line, rest));
  }

  override debug(line: unknown, ...rest: unknown[]): void {
    if (!this.isQuiet) super.debug(...this.arguments(line, rest));
  }

  override error(line: unknown, ...rest: unknown[]): void {
    if (isOfOutage(line)) this.debug(line, ...rest);
    else super.error(...this.arguments(line, rest, stackOf(line)));
  }

  /** Whether the process is a script with Nest's default logger, which creates a console for each context. */
  private get isQuiet(): boolean {
    return AgentLog.isScript && this.localInstance !== Logger.staticInstanceRef && !AgentLog.given;
  }

  private arguments(line: unknown, rest: unknown[], stack?: string): [unknown, ...unknown[]] {
    const [message] = rest;
    if (typeof message !== 'string' || !(this.localInstance instanceof ConsoleLogger)) return [line, ...rest];
    const { err, ...fields } = line as Fields;
    const text = err === undefined ? message : `${message}: ${messageOf(err)}`;
    return [text, ...(Object.keys(fields).length > 0 ? [fields] : []), ...(stack === undefined ? [] : [stack])];
  }
}

const OUTAGE_DEPTH = 5;

/** Whether a line is about an error that an outage of the storage caused. */
function isOfOutage(line: unknown): boolean {
  let error = (line as Fields | null | undefined)?.err;
  for (let depth = 0; depth < OUTAGE_DEPTH && error instanceof Error; depth++) {
    if (error instanceof AppError && error.code === 'STORAGE_UNAVAILABLE') return true;
    error = error.cause;
  }
  return false;
}

function stackOf(line: unknown): string | undefined {
  const err = (line as Fields | null | undefined)?.err;
  return err instanceof Error && !(err instanceof AppError) ? err.stack : undefined;
}

/** Fields that all lines of a piece of work have, such as the ids of its run. */
export type LogFields = Readonly<Record<string, string>>;

const NONE: LogFields = Object.freeze({});
const current = new AsyncLocalStorage<LogFields>();

/** Runs work whose lines in the server's log have these fields, beside those of the work around it. */
export function withLogFields<T>(fields: LogFields, work: () => T): T {
  return current.run({ ...current.getStore(), ...fields }, work);
}

/** The fields of the present work. */
export function currentLogFields(): LogFields {
  return current.getStore() ?? NONE;
}
