import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import { NotificationChannel } from '../../persistence/index.js';
import { LocalRunBus } from '../local/local-run-bus.js';
import { inPieces } from '../follow/text-pieces.mapper.js';
import { RunBus, type RunListener, type WakeListener } from '../run-bus.js';
import { endsStream, type RunEvent } from '../run-event.types.js';
import type { RunItem } from '../run-item.factory.js';
import { RunLease } from '../run-lease.js';
import { RemoteFollowRegistry } from './remote-follow.registry.js';
import { RemoteRunClient } from './remote-run.client.js';
import { LONGEST_EVENT, parseMessage, toItem, toItemMessage, type BusMessage } from './bus-message.mapper.js';

const EVERYBODY = 'runs';
/** How long a run has to begin here before it is looked for elsewhere, in ms. */
const BEGIN_HERE_MS = 20;
/** How often others are told again what is followed here, and the journal is asked for what was not heard, in ms. */
const REMIND_MS = 3_000;

/**
 * The bus between processes. A run's events leave its process only for those processes that follow it, so that a chat
 * whose client is connected where it runs costs the others nothing.
 */
export class ClusterRunBus extends RunBus implements OnApplicationShutdown {
  private readonly logger = new Logger(ClusterRunBus.name);
  private readonly local = new LocalRunBus();
  private readonly wakeListeners: WakeListener[] = [];
  /** Runs that are executed here. */
  private readonly here = new Set<string>();
  /** Runs that were subscribed to a moment ago. */
  private subscribed = new Set<string>();
  private lookTimer: NodeJS.Timeout | undefined;
  private remindTimer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(
    private readonly channel: NotificationChannel,
    private readonly lease: RunLease,
    private readonly followers: RemoteFollowRegistry,
    private readonly remote: RemoteRunClient,
  ) {
    super();
  }

  /** Listens to the other processes from now on. */
  async start(): Promise<void> {
    const listen = (payload: string) => this.receive(payload);
    await this.channel.listen(EVERYBODY, listen);
    await this.channel.listen(inboxOf(this.lease.node), listen, () => this.remind(true));
    this.remindTimer = setInterval(() => this.remind(), REMIND_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.lookTimer);
    clearInterval(this.remindTimer);
    await this.channel.close();
  }

  hasListeners(runId: string): boolean {
    return this.local.hasListeners(runId) || this.followers.has(runId);
  }

  publish(runId: string, item: RunItem): void {
    // Where somebody decides about a waiting run says nothing of where it goes on.
    if (item.event.type !== 'policy.decided') this.locate(runId, item.event);
    this.local.publish(runId, item);
    // That this process tells no more is nothing to those who follow elsewhere: they hear of whoever goes on.
    if (item.event.type === 'stream.closed' || !this.followers.has(runId)) return;
    this.carry(this.followers.of(runId), runId, item);
  }

  subscribe(runId: string, listener: RunListener): () => void {
    const unsubscribe = this.local.subscribe(runId, listener);
    if (!this.here.has(runId)) this.lookSoon(runId);
    return () => {
      unsubscribe();
      if (!this.local.hasListeners(runId)) this.remote.forget(runId);
    };
  }

  wake(runId: string): void {
    for (const listener of this.wakeListeners) listener(runId, true);
    this.send({ type: 'wake', from: this.lease.node, run: runId });
  }

  onWake(listener: WakeListener): void {
    this.wakeListeners.push(listener);
  }

  /** The run is executed here, until it ends or waits. */
  private locate(runId: string, event: RunEvent): void {
    this.remote.forget(runId);
    if (endsStream(event)) this.here.delete(runId);
    else this.here.add(runId);
  }

  private lookSoon(runId: string): void {
    this.subscribed.add(runId);
    this.lookTimer ??= setTimeout(() => {
      this.lookTimer = undefined;
      const elsewhere = [...this.subscribed].filter((id) => !this.here.has(id) && this.local.hasListeners(id));
      this.subscribed = new Set();
      for (const id of elsewhere) this.remote.follow(id, (item) => this.local.publish(id, item));
      this.announce(elsewhere, true);
    }, BEGIN_HERE_MS);
  }

  /** What was lost on the way, the journal has. */
  private remind(wantsText = false): void {
    this.followers.expire();
    this.announce(this.remote.followed(), wantsText);
    this.remote.catchUp().catch((err: unknown) => {
      if (this.isClosed) return;
      this.logger.warn({ err }, 'The journal could not be asked for what happens elsewhere; it is asked again soon');
    });
  }

  private announce(runs: readonly string[], wantsText: boolean): void {
    for (let at = 0; at < runs.length; at += 100) {
      this.send({ type: 'follow', from: this.lease.node, runs: runs.slice(at, at + 100), wantsText });
    }
  }

  private carry(nodes: Iterable<string>, runId: string, item: RunItem): void {
    const messages = inPieces(item, LONGEST_EVENT).map((piece) => toItemMessage(this.lease.node, runId, piece));
    for (const node of nodes) for (const message of messages) this.channel.notify(inboxOf(node), message);
  }

  private addFollower(runId: string, node: string, wantsText: boolean): void {
    this.followers.add(runId, node);
    const text = wantsText && this.live.find(runId)?.soFar();
    if (text) this.carry([node], runId, text);
  }

  private send(message: BusMessage): void {
    this.channel.notify(EVERYBODY, JSON.stringify(message));
  }

  private receive(payload: string): void {
    const message = parseMessage(payload);
    if (!message || message.from === this.lease.node) return;
    switch (message.type) {
      case 'wake':
        for (const listener of this.wakeListeners) listener(message.run, false);
        break;
      case 'follow':
        for (const run of message.runs) this.addFollower(run, message.from, message.wantsText);
        break;
      case 'item':
        this.remote.receive(message.run, message.place.n, toItem(message));
        break;
    }
  }
}

function inboxOf(node: string): string {
  return `node_${node}`;
}
