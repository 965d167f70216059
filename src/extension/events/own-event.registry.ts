import { Injectable } from '@nestjs/common';
import type { OwnEventListener } from '../../agent/index.js';
import { AppError, messageOf, Log } from '../../errors/index.js';
import { fieldMistake } from '../../kernel/index.js';
import { eventTypesOf, RunListenerRegistry, type RunNoticeListener } from '../../run/follow/index.js';

type Relay = (event: string, data: unknown) => unknown;

/** Groups of the event types of runs, and of the events of MCP servers. */
const RESERVED: ReadonlySet<string> = new Set([...eventTypesOf('**').map((type) => type.split('.')[0]!), 'mcp', '**']);

const NAME = /^[\p{L}\p{N}_.:-]{1,128}$/u;

/** Listeners of run events and of events that the application dispatches itself, in this process. */
@Injectable()
export class OwnEventRegistry {
  private readonly logger = new Log('OwnEvent');
  private readonly listening = new Map<string, readonly OwnEventListener[]>();
  private readonly relays: Relay[] = [];

  constructor(private readonly runs: RunListenerRegistry) {}

  /**
   * @param name the listener's name, for the log
   * @param event a pattern of run events, or the name of an own event
   * @returns a function that removes the listener
   * @throws AppError `VALIDATION_FAILED` for an invalid name, or a pattern that matches no run event
   */
  register(name: string, event: string, listener: RunNoticeListener | OwnEventListener): () => void {
    if (isReserved(event) || isPattern(event)) return this.runs.register(name, event as '**', listener);
    assertName(event);
    const added: OwnEventListener = (data) => (listener as OwnEventListener)(data);
    this.listening.set(event, [...this.of(event), added]);
    return () => {
      this.listening.set(
        event,
        this.of(event).filter((one) => one !== added),
      );
    };
  }

  /** Passes all own events on. */
  relay(relay: Relay): void {
    this.relays.push(relay);
  }

  /**
   * Calls the listeners of an own event, in the order of their registration. Their errors are logged.
   * @returns resolves when all listeners have finished
   * @throws AppError `VALIDATION_FAILED` for the name of a run event, or an invalid one
   */
  async dispatch(event: string, data?: unknown): Promise<void> {
    if (isReserved(event)) {
      throw invalid(event, 'is the name of a run event, which only runs emit: use a name of your own');
    }
    assertName(event);
    const calls = [...this.of(event), ...this.relays.map((relay) => (given: unknown) => relay(event, given))];
    await Promise.all(calls.map((listener) => this.call(event, listener, data)));
  }

  private of(event: string): readonly OwnEventListener[] {
    return this.listening.get(event) ?? [];
  }

  private async call(event: string, listener: OwnEventListener, data: unknown): Promise<void> {
    try {
      await listener(data);
    } catch (err) {
      this.logger.error({ err }, `A listener of "${event}" failed: ${messageOf(err)}`);
    }
  }
}

function isReserved(event: unknown): boolean {
  return typeof event === 'string' && RESERVED.has(event.split('.')[0]!);
}

function isPattern(event: unknown): boolean {
  return typeof event === 'string' && event.includes('*');
}

function assertName(event: unknown): void {
  if (typeof event === 'string' && NAME.test(event)) return;
  throw invalid(event, 'must have 1 to 128 letters, digits, "_", ".", ":" and "-"');
}

function invalid(event: unknown, problem: string): AppError {
  return new AppError('VALIDATION_FAILED', `The event ${JSON.stringify(event)} ${problem}.`, {
    details: { errors: [fieldMistake('event', problem, 'isEventName', event)] },
  });
}
