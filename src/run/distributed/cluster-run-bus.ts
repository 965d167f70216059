import { type OnApplicationShutdown } from '@nestjs/common';
import { Log } from '../../errors/index.js';
import { type Database, NotificationChannel } from '../../persistence/index.js';
import { LocalRunBus, RunBus, type RunListener, type WakeListener } from '../follow/run-bus.js';
import { inPieces } from '../follow/run-follow.service.js';
import { endsStream, type RunEvent } from '../event/run-event.types.js';
import type { RunItem } from '../event/run-item.factory.js';
import { RunLease } from '../run-lease.js';
import { RemoteChangeRegistry } from './remote-change.registry.js';
import { RemoteFollowRegistry } from './remote-follow.registry.js';
import { RemoteRunClient } from './remote-run.client.js';
import { LONGEST_EVENT, parseMessage, toItem, toItemMessage, type BusMessage } from './bus-message.mapper.js';

const ALL_NODES = 'runs';
/** Time for a subscribed run to start here before it is looked up on other nodes, in ms. */
const START_HERE_MS = 20;
/** Interval for repeating subscriptions to other nodes and reading missed events from the journal, in ms. */
const REMIND_MS = 3_000;

/** Reminders after which readers of all changes read the database: a new node does not know them for one interval. */
const CATCH_UP_AFTER = 5;

/**
 * The bus between processes. A run's events leave its process only for processes that follow it, so that a chat whose
 * client is connected to the executing node costs the others nothing.
 */
export class ClusterRunBus extends RunBus implements OnApplicationShutdown {
  private readonly logger = new Log(ClusterRunBus.name);
  private readonly local = new LocalRunBus();
  private readonly wakeListeners: WakeListener[] = [];
  /** Runs that execute here. */
  private readonly here = new Set<string>();
  /** Runs with a new subscription that are not looked up yet. */
  private subscribed = new Set<string>();
  private lookUpTimer: NodeJS.Timeout | undefined;
  private remindTimer: NodeJS.Timeout | undefined;
  private readonly changes: RemoteChangeRegistry;
  private reminders = 0;
  private isClosed = false;

  constructor(
    private readonly channel: NotificationChannel,
    private readonly lease: RunLease,
    private readonly followers: RemoteFollowRegistry,
    private readonly remote: RemoteRunClient,
    database: Pick<Database, 'onStatusChange'>,
  ) {
    super();
    this.changes = new RemoteChangeRegistry(database, (node, runs) =>
      this.channel.notify(inboxOf(node), JSON.stringify({ type: 'changed', from: this.lease.node, runs })),
    );
  }

  /** Subscribes to the messages of the other processes. */
  async start(): Promise<void> {
    const listen = (payload: string) => this.receive(payload);
    await this.channel.listen(ALL_NODES, listen);
    await this.channel.listen(inboxOf(this.lease.node), listen, () => this.remind(true));
    this.remindTimer = setInterval(() => this.remind(), REMIND_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.lookUpTimer);
    clearInterval(this.remindTimer);
    this.changes.close();
    await this.channel.close();
  }

  hasListeners(runId: string): boolean {
    return this.local.hasListeners(runId) || this.followers.has(runId);
  }

  publish(runId: string, item: RunItem): void {
    // A decision may be made on any node: it does not show where the run continues.
    if (item.event.type !== 'policy.decided') this.locate(runId, item.event);
    this.local.publish(runId, item);
    // Remote followers ignore the end of this node's stream: they receive events from the node that continues the run.
    if (item.event.type === 'stream.closed' || !this.followers.has(runId)) return;
    this.sendItem(this.followers.of(runId), runId, item);
  }

  subscribe(runId: string, listener: RunListener): () => void {
    const unsubscribe = this.local.subscribe(runId, listener);
    if (!this.here.has(runId)) this.lookUpSoon(runId);
    return () => {
      unsubscribe();
      if (!this.local.hasListeners(runId)) this.remote.forget(runId);
    };
  }

  left(runId: string): void {
    if (this.here.delete(runId) && this.local.hasListeners(runId)) this.lookUpSoon(runId);
  }

  wake(runId: string): void {
    for (const listener of this.wakeListeners) listener(runId, true);
    this.send({ type: 'wake', from: this.lease.node, run: runId });
  }

  onWake(listener: WakeListener): void {
    this.wakeListeners.push(listener);
  }

  override onRemoteChange(listener: (runIds: readonly string[] | null) => void): () => void {
    const stop = this.changes.listen(listener);
    this.watch();
    return stop;
  }

  private watch(): void {
    if (this.changes.isListening) this.send({ type: 'watch', from: this.lease.node });
  }

  /** Records that the run executes here, until it ends or waits. */
  private locate(runId: string, event: RunEvent): void {
    this.remote.forget(runId);
    if (endsStream(event)) this.here.delete(runId);
    else this.here.add(runId);
  }

  private lookUpSoon(runId: string): void {
    this.subscribed.add(runId);
    this.lookUpTimer ??= setTimeout(() => {
      this.lookUpTimer = undefined;
      const elsewhere = [...this.subscribed].filter((id) => !this.here.has(id) && this.local.hasListeners(id));
      this.subscribed = new Set();
      for (const id of elsewhere) this.remote.follow(id, (item) => this.local.publish(id, item));
      this.announce(elsewhere, true);
    }, START_HERE_MS);
  }

  /** Repeats the subscriptions, and reads lost messages from the journal. */
  private remind(isReconnected = false): void {
    this.followers.expire();
    this.announce(this.remote.followed(), isReconnected);
    this.changes.expire();
    this.watch();
    if (isReconnected || ++this.reminders % CATCH_UP_AFTER === 0) this.changes.receive(null);
    this.remote.catchUp().catch((err: unknown) => {
      if (this.isClosed) return;
      this.logger.warn({ err }, 'Failed to read events of remote runs from the journal; retrying');
    });
  }

  private announce(runs: readonly string[], wantsText: boolean): void {
    for (let at = 0; at < runs.length; at += 100) {
      this.send({ type: 'follow', from: this.lease.node, runs: runs.slice(at, at + 100), wantsText });
    }
  }

  private sendItem(nodes: Iterable<string>, runId: string, item: RunItem): void {
    const messages = inPieces(item, LONGEST_EVENT).map((piece) => toItemMessage(this.lease.node, runId, piece));
    for (const node of nodes) for (const message of messages) this.channel.notify(inboxOf(node), message);
  }

  private addFollower(runId: string, node: string, wantsText: boolean): void {
    this.followers.add(runId, node);
    const text = wantsText && this.live.find(runId)?.soFar();
    if (text) this.sendItem([node], runId, text);
  }

  private send(message: BusMessage): void {
    this.channel.notify(ALL_NODES, JSON.stringify(message));
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
      case 'watch':
        this.changes.addWatcher(message.from);
        break;
      case 'changed':
        this.changes.receive(message.runs);
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
