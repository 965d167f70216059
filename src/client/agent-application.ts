import type { INestApplicationContext, LoggerService } from '@nestjs/common';
import { type AgentLog, AppError } from '../errors/index.js';
import type { RunService } from '../run/index.js';
import { AGENT_SERVICES, type AgentServices } from './agent-services.js';

/** The application of an agent. */
export class AgentApplication {
  private closing: Promise<void> | null = null;
  private readonly started: AgentServices;

  constructor(
    private readonly context: INestApplicationContext,
    private readonly log: AgentLog,
  ) {
    this.started = context.get<AgentServices>(AGENT_SERVICES);
  }

  /** @throws AppError `SHUTTING_DOWN` after `close` */
  get services(): AgentServices {
    if (!this.closing) return this.started;
    throw new AppError('SHUTTING_DOWN', 'The agent is closed: create another one with createAgent().');
  }

  /** Available also during `close`. */
  get runs(): RunService {
    return this.started.runs;
  }

  /** Replaces the logger of the agent. */
  useLogger(logger: LoggerService): void {
    this.log.replace(logger);
  }

  /** Every call returns the same promise. */
  close(): Promise<void> {
    this.closing ??= this.context.close().finally(() => this.log.close());
    return this.closing;
  }
}
