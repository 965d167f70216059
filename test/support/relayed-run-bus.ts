import type { RunEvent } from '../../src/run/event/index.js';
import { RunBus, type RunListener } from '../../src/run/follow/run-bus.js';
import { endsStream } from '../../src/run/event/run-event.types.js';
import { RunItem } from '../../src/run/event/run-item.factory.js';
import { turns } from './distant-database.js';

/**
 * The bus of another node than the executing one: items arrive as text, delayed and in order, and some are lost. A new
 * subscriber receives the text so far.
 */
export class RelayedRunBus extends RunBus {
  /** Delay of each item, in turns of the event loop. */
  delays: readonly number[] = [];
  /** Which items are lost, repeated cyclically. An item that ends a stream is never lost. */
  losses: readonly boolean[] = [];
  private count = 0;
  private wire: Promise<void> = Promise.resolve();

  constructor(private readonly owner: RunBus) {
    super();
  }

  hasListeners(runId: string): boolean {
    return this.owner.hasListeners(runId);
  }

  publish(runId: string, item: RunItem): void {
    this.owner.publish(runId, item);
  }

  subscribe(runId: string, listener: RunListener): () => void {
    let isSubscribed = true;
    const relay = (item: RunItem) => {
      if (this.isLost(item)) return;
      this.wire = this.carry(item, (arrived) => isSubscribed && listener(arrived));
    };
    const unsubscribe = this.owner.subscribe(runId, relay);
    void this.publishPast(runId, relay);
    return () => {
      isSubscribed = false;
      unsubscribe();
    };
  }

  left(): void {
    throw new Error('This bus only carries published events.');
  }

  wake(): void {
    throw new Error('This bus only carries published events.');
  }

  onWake(): void {
    throw new Error('This bus only carries published events.');
  }

  private async carry({ n, at, data, place }: RunItem, deliver: (item: RunItem) => void): Promise<void> {
    const delay = this.delays[this.count % this.delays.length] ?? 0;
    await this.wire;
    await turns(delay);
    deliver(new RunItem(n, at, JSON.parse(data) as RunEvent, data, place));
  }

  private async publishPast(runId: string, listen: RunListener): Promise<void> {
    await turns(this.delays[0] ?? 0);
    const text = this.owner.live.find(runId)?.soFar();
    if (text) listen(text);
  }

  private isLost(item: RunItem): boolean {
    return !endsStream(item.event) && (this.losses[this.count++ % this.losses.length] ?? false);
  }
}
