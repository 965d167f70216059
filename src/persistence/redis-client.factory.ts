import type { Redis } from 'ioredis';
import type { Socket } from 'node:net';
import { exportsOf, loadPackage } from '../errors/index.js';
import { holdProcess, isDoneWithin } from '../kernel/index.js';

/** A pending request. */
export interface Awaited {
  readonly isResolved: boolean;
  reject(error: Error): void;
}

/** Checks per time-out period. */
const CHECKS = 8;

/**
 * Rejects requests without an answer in time, up to an eighth of the time-out late. One timer checks all requests: a
 * timer per request costs nearly as much as a round trip to a nearby Redis. It counts its own checks instead of reading
 * the clock, so that a freeze of this process does not expire requests.
 */
export class AnswerDeadline {
  private waiting: { readonly one: Awaited; readonly until: number }[] = [];
  private checks = 0;
  private timer: NodeJS.Timeout | undefined;

  /** @param timeoutMs longest wait */
  constructor(private readonly timeoutMs: number) {}

  watch(one: Awaited): void {
    // Answers arrive in the order of the requests.
    while (this.waiting[0]?.one.isResolved === true) this.waiting.shift();
    // One extra, as the next check may follow at once.
    this.waiting.push({ one, until: this.checks + 1 + CHECKS });
    this.timer ??= setInterval(() => this.check(), this.timeoutMs / CHECKS).unref();
  }

  private check(): void {
    const now = ++this.checks;
    const open = this.waiting.filter(({ one }) => !one.isResolved);
    this.waiting = open.filter(({ until }) => until > now);
    // A request that has failed already ignores a second rejection.
    for (const { one, until } of open) if (until <= now) one.reject(new Error(`no answer in ${this.timeoutMs} ms`));
    if (this.waiting.length > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

/** Time for Redis to answer pending commands at close, in ms. */
const CLOSE_WAIT_MS = 1000;

/** The driver of Redis. @throws AppError `CONFIG_INVALID` if it is not installed */
export function loadRedis() {
  return loadPackage('ioredis', 'Redis', () => import('ioredis').then(exportsOf));
}

/**
 * A client of a Redis that is not the journal: commands without a connection fail at once, and the client reconnects.
 * The driver is imported only here. The client is not connected yet: the caller decides how to handle an unavailable
 * Redis.
 * @param timeoutMs longest wait for an answer, up to an eighth longer; without it as long as the connection lasts
 */
export async function createRedisClient(url: string, timeoutMs?: number): Promise<Redis> {
  const { Redis } = await loadRedis();
  const client = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1, lazyConnect: true });
  client.on('error', () => undefined);
  unreference(client);
  holdCommands(client);
  return timeoutMs === undefined ? client : withDeadline(client, new AnswerDeadline(timeoutMs));
}

/** Waits for pending commands while Redis answers, then disconnects; otherwise the client would reconnect for ever. */
export async function closeRedisClient(client: Redis): Promise<void> {
  await isDoneWithin(CLOSE_WAIT_MS, client.quit());
  client.disconnect();
}

/** The driver's types lack the handles of a client. */
interface Handles {
  readonly stream: Socket;
  readonly reconnectTimeout: NodeJS.Timeout | null;
}

/** The connection of this client does not keep the process alive, nor does the wait for the next attempt to connect. */
export function unreference(client: Redis): Redis {
  const handles = client as unknown as Handles;
  client.on('connect', () => handles.stream.unref());
  client.on('reconnecting', () => handles.reconnectTimeout?.unref());
  return client;
}

/** An unanswered command keeps the process alive. */
function holdCommands(client: Redis): void {
  const send = client.sendCommand.bind(client);
  client.sendCommand = (command, stream) => {
    void holdProcess(command.promise).catch(() => undefined);
    return send(command, stream);
  };
}

/** Adds the time-out to `sendCommand`, which every command passes through, also of a pipeline. */
function withDeadline(client: Redis, deadline: AnswerDeadline): Redis {
  const send = client.sendCommand.bind(client);
  client.sendCommand = (command, stream) => {
    deadline.watch(command);
    return send(command, stream);
  };
  return client;
}
