import type { RunRecord } from '../../src/run/index.js';
import type { RunEvent } from '../../src/run/event/index.js';
import type { RunBus } from '../../src/run/follow/run-bus.js';
import { RunOutbox } from '../../src/run/run-outbox.js';
import { endRun, fence, releaseRun } from '../../src/run/run-statement.factory.js';
import type { Statement } from '../../src/persistence/statement/index.js';
import { completed, type RunHost } from './run-host.js';

/** Publishes events of a run immediately, as a test requires. */
export class RunPublisher {
  readonly outbox: RunOutbox;

  /** @param last the number of its last event */
  constructor(
    private readonly host: Pick<RunHost, 'journal'> & { readonly bus: RunBus },
    private readonly run: RunRecord,
    last = 1,
  ) {
    this.outbox = new RunOutbox(run, host.bus, last, host.journal.cipher, host.journal.budget);
  }

  /** Text of the current message. */
  publishText(text: string, iteration = 1): void {
    this.outbox.add({ type: 'message.delta', iteration, text });
  }

  begin(step: string): void {
    this.outbox.add({ type: 'step.started', step });
  }

  /** A journaled event. */
  async think(text: string): Promise<void> {
    await this.commit({ type: 'thought', iteration: 1, text }, fence(this.run));
  }

  async complete(text: string, iteration = 1): Promise<void> {
    const event: RunEvent = { type: 'message.completed', iteration, text, finish_reason: 'stop', tool_calls: [] };
    await this.commit(event, fence(this.run));
  }

  async end(): Promise<void> {
    const { event } = completed(this.run.id) as { event: RunEvent };
    await this.commit(event, endRun(this.run, 'running', 'completed', 1));
  }

  /** The run waits for a decision. */
  async wait(): Promise<void> {
    const event = { type: 'run.waiting', run_id: this.run.id, reason: 'outcome_unknown', requests: [] } as const;
    await this.commit(event, releaseRun(this.run, 'waiting'));
  }

  private async commit(event: RunEvent, condition: Statement): Promise<void> {
    this.outbox.add(event);
    const batch = this.outbox.take();
    await this.host.journal.commit([condition, ...batch.statements]);
    batch.publish();
  }
}
