import type { Redis } from 'ioredis';
import { Log, OutageReport } from '../../errors/index.js';
import { closeRedisClient, NotificationChannel } from '../../persistence/index.js';

interface Subscription {
  readonly listener: (payload: string) => void;
  readonly onReconnect: (() => void) | undefined;
}

/** Redis pub/sub: one connection that listens, one that sends. */
export class RedisNotificationChannel extends NotificationChannel {
  private readonly outage = new OutageReport(
    new Log(RedisNotificationChannel.name),
    'Redis',
    'Processes read events of other processes from the journal until it answers',
  );
  private readonly subscriptions = new Map<string, Set<Subscription>>();
  private wasReady = false;

  /** @param prefix separates applications that share a Redis */
  constructor(
    private readonly sender: Redis,
    private readonly receiver: Redis,
    private readonly prefix: string,
  ) {
    super();
    for (const redis of [sender, receiver]) redis.on('error', (error) => this.outage.failed(error));
    receiver.on('message', (channel: string, payload: string) => {
      for (const { listener } of this.subscriptions.get(channel) ?? []) listener(payload);
    });
    // The driver itself renews its subscriptions.
    receiver.on('ready', () => {
      this.outage.recovered();
      if (this.wasReady) this.resync();
      this.wasReady = true;
    });
  }

  async listen(
    name: string,
    listener: (payload: string) => void,
    onReconnect?: () => void,
  ): Promise<() => Promise<void>> {
    const channel = this.prefix + name;
    const subscription = { listener, onReconnect };
    const subscribed = this.subscriptions.get(channel) ?? new Set();
    this.subscriptions.set(channel, subscribed.add(subscription));
    // Not awaited: the driver subscribes when it is connected.
    this.receiver.subscribe(channel).catch((error: unknown) => this.outage.failed(error));
    return async () => {
      subscribed.delete(subscription);
      if (subscribed.size > 0) return;
      this.subscriptions.delete(channel);
      await this.receiver.unsubscribe(channel);
    };
  }

  notify(channel: string, payload: string): void {
    this.sender.publish(this.prefix + channel, payload).catch((error: unknown) => this.outage.failed(error));
  }

  async close(): Promise<void> {
    this.receiver.disconnect();
    await closeRedisClient(this.sender);
  }

  private resync(): void {
    for (const subscribed of this.subscriptions.values()) for (const { onReconnect } of subscribed) onReconnect?.();
  }
}
