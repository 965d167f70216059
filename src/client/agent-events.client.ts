import type { LoggerService } from '@nestjs/common';
import type { OwnEventListener } from '../agent/index.js';
import type { RunEventPattern, RunNoticeListener } from '../run/follow/index.js';
import type { TelemetryOption } from '../extension/index.js';
import type { AgentApplication } from './agent-application.js';
import type { AgentServices } from './agent-services.js';

/** Events of an agent in this process, those of its runs and own ones, and their reports. */
export abstract class AgentEvents {
  constructor(protected readonly application: AgentApplication) {}

  /** @throws AppError `SHUTTING_DOWN` after `close` */
  protected get services(): AgentServices {
    return this.application.services;
  }

  /**
   * Adds a listener of run events, by a type (`tool.completed`), a group (`tool.*`) or `**`. It receives each event once, after it is
   * durable. Runs do not wait for the listener; its errors are logged.
   * @returns a function that removes the listener @throws AppError `VALIDATION_FAILED` for a pattern that matches no event
   */
  on<P extends RunEventPattern>(event: P, listener: RunNoticeListener<P>): () => void;
  /**
   * Adds a listener of an own event, which `dispatch` emits.
   * @param event a name outside of the groups of run events, such as `order.paid`
   */
  on<T = unknown>(event: string, listener: OwnEventListener<T>): () => void;
  on(event: string, listener: OwnEventListener<never>): () => void {
    return this.services.events.register('A listener of the agent', event, listener as OwnEventListener);
  }

  /**
   * Emits an own event to the listeners in this process, in the order of their registration; their errors are logged.
   * @returns resolves when all listeners have finished @throws AppError `VALIDATION_FAILED` for the name of a run event
   */
  async dispatch(event: string, data?: unknown): Promise<void> {
    await this.services.events.dispatch(event, data);
  }

  /** Replaces the logger given at creation; see `CreateAgentOptions`. */
  setLogger(logger: LoggerService): void {
    this.application.useLogger(logger);
    this.services.reports.setLogger(logger);
  }

  /** Replaces the telemetry given at creation. */
  setTelemetry(telemetry: TelemetryOption): void {
    this.services.reports.setTelemetry(telemetry);
  }
}
