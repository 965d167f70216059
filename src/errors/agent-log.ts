import type { LoggerService } from '@nestjs/common';

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
