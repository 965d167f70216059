import type { Socket } from 'node:net';
import type { Client } from 'pg';
import { holdProcess, isDoneWithin } from '../kernel/index.js';

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;
/** Interval of the connection check, in ms: a dead connection raises no event. */
const HEARTBEAT_MS = 10_000;
/** Time for the server to close the connection, in ms. */
const END_MS = 1_000;

export interface ListenerOptions {
  createClient(): Client;
  /** The channels to listen to on every new connection. */
  channels(): Iterable<string>;
  onNotification(channel: string, payload: string): void;
  /** Called after an interruption without notifications. */
  onReconnect(): void;
}

/** One listening connection, which is reopened when it is lost. */
export class PostgresListenerClient {
  private current: Promise<Client> | null = null;
  private wasConnected = false;
  private isClosed = false;
  private waitMs = FIRST_WAIT_MS;
  private beat: NodeJS.Timeout | undefined;
  private retry: NodeJS.Timeout | undefined;

  constructor(private readonly options: ListenerOptions) {}

  /** @throws the driver's error when there is no connection now */
  async listen(channel: string): Promise<void> {
    const client = await this.open();
    await holdProcess(client.query(`LISTEN ${channel}`));
  }

  async unlisten(channel: string): Promise<void> {
    const client = await this.current?.catch(() => null);
    // A lost connection has no subscriptions.
    await client?.query(`UNLISTEN ${channel}`).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.retry);
    clearInterval(this.beat);
    const client = await this.current?.catch(() => null);
    if (!client || (await isDoneWithin(END_MS, client.end()))) return;
    // The driver waits for the server to close the connection, and a silent one never does.
    (client as Client & { connection: { stream: Socket } }).connection.stream.destroy();
  }

  /** @throws the driver's error */
  async connect(): Promise<void> {
    await this.open();
  }

  private open(): Promise<Client> {
    if (this.current) return this.current;
    const client = this.options.createClient();
    const opening = this.prepare(client);
    this.current = opening;
    // The `end` event follows an error and is handled.
    client.on('error', () => undefined);
    client.on('end', () => this.lose(opening));
    opening.catch(() => {
      this.lose(opening);
      return client.end();
    });
    return opening;
  }

  private async prepare(client: Client): Promise<Client> {
    client.on('notification', ({ channel, payload = '' }) => this.options.onNotification(channel, payload));
    await client.connect();
    for (const channel of this.options.channels()) await client.query(`LISTEN ${channel}`);
    (client as Client & { unref(): void }).unref();
    this.beat = setInterval(() => void client.query('SELECT 1').catch(() => client.end()), HEARTBEAT_MS).unref();
    this.waitMs = FIRST_WAIT_MS;
    if (this.wasConnected) this.options.onReconnect();
    this.wasConnected = true;
    return client;
  }

  private lose(opening: Promise<Client>): void {
    if (this.current !== opening) return;
    this.current = null;
    clearInterval(this.beat);
    if (this.isClosed) return;
    this.retry = setTimeout(() => this.reconnect(), this.waitMs).unref();
    this.waitMs = Math.min(2 * this.waitMs, LONGEST_WAIT_MS);
  }

  private reconnect(): void {
    if (this.isClosed || ![...this.options.channels()].length) return;
    this.open().catch(() => undefined);
  }
}
