import type { INestApplicationContext, LoggerService } from '@nestjs/common';
import { type AgentLog, AppError } from '../errors/index.js';
import { databaseConfig, type DatabaseConfig } from '../config/namespaces/index.js';
import { Cassette } from '../llm/cassette/index.js';
import { Database } from '../persistence/index.js';
import type { RunService } from '../run/index.js';
import { AGENT_SERVICES, type AgentServices } from './agent-services.js';

/** The application of an agent. */
export class AgentApplication {
  private closing: Promise<void> | null = null;
  private readonly started: AgentServices;
  private readonly cassette: Cassette | null;
  private checked: Promise<void> | undefined;

  constructor(
    private readonly context: INestApplicationContext,
    private readonly log: AgentLog,
  ) {
    this.started = context.get<AgentServices>(AGENT_SERVICES);
    this.cassette = context.get<Cassette | null>(Cassette, { strict: false });
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

  /** Every call returns the same promise. @throws AppError `SHUTTING_DOWN` when the close takes too long */
  close(): Promise<void> {
    this.closing ??= this.closeInTime().finally(() => this.log.close());
    return this.closing;
  }

  /** As `close`, then checks its cassette. Every call returns the same promise. */
  closeChecked(): Promise<void> {
    this.checked ??= this.close().then(() => this.cassette?.assertDone());
    return this.checked;
  }

  private async closeInTime(): Promise<void> {
    const { stopLimitMs: limitMs } = this.context.get<DatabaseConfig>(databaseConfig.KEY, { strict: false });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(this.tooLate(limitMs)), limitMs).unref();
    });
    await Promise.race([this.context.close(), late]).finally(() => clearTimeout(timer));
  }

  private tooLate(limitMs: number): AppError {
    const outage = this.context.get(Database, { strict: false }).outage;
    const cause = outage === null ? 'open connections or running work' : `the database (${outage})`;
    return new AppError(
      'SHUTTING_DOWN',
      `The agent did not close within ${limitMs} ms; it waits for ${cause}. Unfinished runs resume at the next start.`,
    );
  }
}
