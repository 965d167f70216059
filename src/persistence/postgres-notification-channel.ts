import type { Client, Pool, QueryConfig } from 'pg';
import { AppError, Log, OutageReport } from '../errors/index.js';
import { NotificationChannel } from './persistence.types.js';
import { PostgresListenerClient } from './postgres-listener.client.js';

/** Payloads of one turn are joined up to this size; PostgreSQL's limit is 8,000 bytes. */
const MOST_BYTES = 7_900;
const NAME = /^[a-z_][a-z0-9_]{0,62}$/;
/** Asynchronous commit: notifications need not be durable. */
const NOTIFY = `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`;

interface Subscription {
  readonly listener: (payload: string) => void;
  readonly onReconnect: (() => void) | undefined;
}

/** LISTEN on a connection of its own; NOTIFY through the pool, one at a time to preserve the order. */
export class PostgresNotificationChannel extends NotificationChannel {
  private readonly outage = new OutageReport(
    new Log(PostgresNotificationChannel.name),
    'Sending notifications to other processes',
    'They read the tables instead',
  );
  private readonly subscriptions = new Map<string, Set<Subscription>>();
  private readonly listener: PostgresListenerClient;
  private waiting = new Map<string, string[]>();
  private sending: Promise<void> | null = null;

  private readonly prefix: string;

  /** @param key the installation's part of the names of channels: others may share the database */
  constructor(
    private readonly pool: Pool,
    createClient: () => Client,
    key: string,
    private readonly timeoutMs: number,
  ) {
    super();
    this.prefix = `${key}_`;
    this.listener = new PostgresListenerClient({
      createClient,
      channels: () => this.subscriptions.keys(),
      onNotification: (channel, payload) => this.deliver(channel, payload),
      onReconnect: () => this.resync(),
    });
  }

  /** Opens the listening connection, which `listen` does otherwise. @throws the driver's error */
  connect(): Promise<void> {
    return this.listener.connect();
  }

  async listen(
    name: string,
    listener: (payload: string) => void,
    onReconnect?: () => void,
  ): Promise<() => Promise<void>> {
    const channel = this.channelOf(name);
    const subscription: Subscription = { listener, onReconnect };
    const subscribed = this.subscriptions.get(channel) ?? new Set();
    this.subscriptions.set(channel, subscribed.add(subscription));
    try {
      await this.listener.listen(channel);
    } catch (error) {
      this.unsubscribe(channel, subscription);
      throw error;
    }
    return async () => {
      if (this.unsubscribe(channel, subscription)) await this.listener.unlisten(channel);
    };
  }

  notify(name: string, payload: string): void {
    const channel = this.channelOf(name);
    if (Buffer.byteLength(payload) > MOST_BYTES || /[\n\0]/.test(payload)) {
      throw new AppError(
        'INTERNAL',
        `A payload for "${channel}" is longer than ${MOST_BYTES} bytes, or no single line.`,
      );
    }
    const payloads = this.waiting.get(channel);
    if (payloads) payloads.push(payload);
    else this.waiting.set(channel, [payload]);
    this.sending ??= this.sendSoon();
  }

  async close(): Promise<void> {
    await this.sending;
    await this.listener.close();
  }

  private channelOf(name: string): string {
    const channel = `${this.prefix}${name}`;
    if (!NAME.test(channel)) throw new AppError('INTERNAL', `"${channel}" is not a name of a channel.`);
    return channel;
  }

  private deliver(channel: string, text: string): void {
    const payloads = text.split('\n');
    for (const { listener } of this.subscriptions.get(channel) ?? []) payloads.forEach((payload) => listener(payload));
  }

  private resync(): void {
    for (const subscribed of this.subscriptions.values()) for (const { onReconnect } of subscribed) onReconnect?.();
  }

  /** @returns whether it was the last subscription of its channel */
  private unsubscribe(channel: string, subscription: Subscription): boolean {
    const subscribed = this.subscriptions.get(channel);
    if (!subscribed?.delete(subscription) || subscribed.size > 0) return false;
    return this.subscriptions.delete(channel);
  }

  private async sendSoon(): Promise<void> {
    await new Promise(setImmediate);
    while (this.waiting.size > 0) {
      const waiting = this.waiting;
      this.waiting = new Map();
      await this.sendAll(waiting);
    }
    this.sending = null;
  }

  private async sendAll(waiting: ReadonlyMap<string, readonly string[]>): Promise<void> {
    try {
      for (const [channel, payloads] of waiting) {
        for (const text of joined(payloads)) {
          const config = { name: 'jackdaw_notify', text: NOTIFY, values: [channel, text] };
          await this.pool.query({ ...config, query_timeout: this.timeoutMs } as QueryConfig);
          this.outage.recovered();
        }
      }
    } catch (error) {
      // Dropped, as a queue could grow without limit; receivers read the tables.
      this.waiting.clear();
      this.outage.failed(error);
    }
  }
}

/** Joins payloads as lines, up to the size of a notification. */
function joined(payloads: readonly string[]): string[] {
  const texts: string[] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const payload of payloads) {
    const more = Buffer.byteLength(payload) + 1;
    if (bytes + more > MOST_BYTES) {
      texts.push(payload);
      bytes = more;
    } else {
      texts[texts.length - 1] += `\n${payload}`;
      bytes += more;
    }
  }
  return texts;
}
