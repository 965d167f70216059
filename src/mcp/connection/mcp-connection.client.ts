import type { Client } from '@modelcontextprotocol/client';
import { setTimeout as pause } from 'node:timers/promises';
import { AppError, Log } from '../../errors/index.js';
import { holdProcess, untilAborted } from '../../kernel/index.js';
import { McpError } from '../mcp.error.js';
import type { McpServer, McpServerStatus, TransportKind } from '../mcp-server.types.js';
import { isConnectionLost, isNotProcessed, isTimeout, toCallError, toConnectError } from './call-failure.mapper.js';
import { NotProcessedError } from './not-processed.error.js';
import {
  kindOf,
  type McpListeners,
  type McpWorld,
  openClient,
  type OpenedClient,
  ProgramEndedError,
} from './opened-client.factory.js';
import { RetryDelay } from './tool-changes.client.js';
import { withoutSecrets } from './secret.filter.js';

/** Listeners of a connection. */
export interface McpConnectionListeners extends McpListeners {
  /** Called after connecting, before any call; an error ends the connection. */
  readonly connected: (opened: OpenedClient, signal: AbortSignal) => Promise<void>;
}

/** State of a connection. Times are epoch ms. */
export interface McpConnectionState {
  readonly status: McpServerStatus;
  readonly since: number;
  /** Number of successful connections. */
  readonly connects: number;
  readonly error?: string;
  /** Time of the next attempt. */
  readonly retryAt?: number;
}

/** One connection to a server, made in the background and again after a loss. */
export class McpConnection {
  private readonly logger = new Log('McpConnection');
  private readonly closing = new AbortController();
  private opened: OpenedClient | null = null;
  private turn = Promise.withResolvers<void>();
  private current: McpConnectionState = { status: 'connecting', since: Date.now(), connects: 0 };
  private work: Promise<void> | null = null;
  private wake: AbortController | null = null;
  private readonly delay = new RetryDelay();
  private readySince: number | null = null;
  private isLegacy = false;
  /** Whether a call waits for the next connection, which is then made at once. */
  private isAwaited = false;
  /** The last error. */
  private failure: McpError | null = null;
  private examined: OpenedClient | null = null;
  private readonly watchers = new Set<() => void>();

  constructor(
    readonly server: McpServer,
    private readonly world: McpWorld,
    private readonly listeners: McpConnectionListeners,
  ) {
    this.turn.promise.catch(() => undefined);
  }

  get state(): McpConnectionState {
    return this.current;
  }

  /** The client, while the server is connected. */
  get client(): Client | null {
    return this.opened?.client ?? null;
  }

  /** The transport in use, or the declared one. */
  get transport(): TransportKind {
    return this.opened?.transport ?? kindOf(this.server);
  }

  get pid(): number | null {
    return this.opened?.pid ?? null;
  }

  /** Resolves when the state satisfies the condition. */
  async until(condition: (state: McpConnectionState) => boolean): Promise<void> {
    while (!condition(this.current)) await new Promise<void>((resolve) => this.watchers.add(resolve));
  }

  /** Starts to connect; never throws. */
  start(): this {
    this.work ??= this.run();
    return this;
  }

  /** Ends the pause before the next attempt. */
  retryNow(): void {
    this.wake?.abort();
  }

  /**
   * Uses the connection; waits for a pending attempt. An idle connection to a program does not keep the process alive.
   * @throws McpError; the signal's reason if it aborts
   */
  use<T>(work: (client: Client) => Promise<T>, signal: AbortSignal): Promise<T> {
    return holdProcess(this.useOpened(work, signal));
  }

  private async useOpened<T>(work: (client: Client) => Promise<T>, signal: AbortSignal): Promise<T> {
    const opened = await this.reach(signal);
    try {
      return await work(opened.client);
    } catch (error) {
      if (isTimeout(signal.aborted ? signal.reason : error)) void this.examine(opened);
      signal.throwIfAborted();
      throw await this.toFailure(opened, error);
    }
  }

  /**
   * Waits for a new connection after a call that the server did not process; only for the next attempt.
   * @throws McpError; the signal's reason if it aborts
   */
  async renewed(signal: AbortSignal): Promise<void> {
    const isTried = this.until(({ status, retryAt }) => status !== 'failed' || retryAt !== undefined);
    await untilAborted(isTried, signal);
    await this.reach(signal);
  }

  /** Ends the connection, and the program, if the server is one. */
  async close(): Promise<void> {
    this.closing.abort(new McpError('NETWORK_ERROR', `MCP server "${this.server.name}" was closed.`));
    this.wake?.abort();
    await this.opened?.close();
    await this.work;
    this.set({ status: 'closed' });
    this.turn.reject(this.closing.signal.reason);
  }

  private async reach(signal: AbortSignal): Promise<OpenedClient> {
    signal.throwIfAborted();
    this.start();
    // An earlier call lost the connection and waits for the next one: this call waits too.
    if (this.isAwaited)
      await untilAborted(
        this.until(({ status }) => status !== 'failed'),
        signal,
      );
    if (!this.opened && this.current.status === 'connecting') await untilAborted(this.turn.promise, signal);
    if (this.opened) return this.opened;
    throw this.unreachable();
  }

  private unreachable(): AppError {
    const { name } = this.server;
    const reason = this.failure?.cause;
    if (reason instanceof AppError && reason.code === 'DATABASE_LOCKED') return reason;
    if (this.current.status === 'closed') return new McpError('NETWORK_ERROR', `MCP server "${name}" was closed.`);
    const { error = 'it does not answer', retryAt } = this.current;
    const seconds = retryAt === undefined ? 0 : Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
    const message = `MCP server "${name}" is not connected: ${error}; the next attempt is in ${seconds} s.`;
    const { code = 'NETWORK_ERROR', cause } = this.failure ?? {};
    return new McpError(code, message, { server: name }, { cause, isRetryable: code === 'NETWORK_ERROR' });
  }

  private async run(): Promise<void> {
    while (!this.closing.signal.aborted) {
      const fault = await this.live();
      if (this.closing.signal.aborted) return;
      if (this.isAwaited) this.logger.warn(`Reconnecting to MCP server "${this.server.name}": ${fault}`);
      else await this.pauseAfter(fault);
      if (this.closing.signal.aborted) return;
      this.isAwaited = false;
      this.turn = Promise.withResolvers();
      this.turn.promise.catch(() => undefined);
      // Readers see the reason also during the next attempt.
      const { error } = this.current;
      this.set({ status: 'connecting', ...(error !== undefined && { error }) });
    }
  }

  private async pauseAfter(fault: string): Promise<void> {
    const delay = this.delay.next(this.readySince === null ? 0 : performance.now() - this.readySince);
    this.logger.warn(`MCP server "${this.server.name}" is not connected: ${fault}`);
    this.set({ status: 'failed', error: fault, retryAt: Date.now() + Math.ceil(delay) });
    this.turn.resolve();
    await this.waitForRetry(delay);
  }

  /** From the connection attempt to the end of the connection. @returns why it ended */
  private async live(): Promise<string> {
    const { signal } = this.closing;
    let opened: OpenedClient | null = null;
    this.failure = null;
    this.readySince = null;
    try {
      opened = await holdProcess(this.open(signal));
      await holdProcess(Promise.race([this.listeners.connected(opened, signal), failing(opened)]));
      this.opened = opened;
      this.readySince = performance.now();
      this.set({ status: 'ready', connects: this.current.connects + 1 });
      this.turn.resolve();
      return await opened.ended;
    } catch (error) {
      this.failure = toConnectError(error, this.server);
      return this.failure.message;
    } finally {
      this.opened = null;
      await opened?.close();
    }
  }

  /** Some programs end at an unknown request: the older protocol is then tried. */
  private async open(signal: AbortSignal): Promise<OpenedClient> {
    const { server, world, listeners, isLegacy } = this;
    try {
      return await openClient(server, world, listeners, { isLegacy, signal });
    } catch (error) {
      signal.throwIfAborted();
      if (isLegacy || !(error instanceof ProgramEndedError)) throw error;
      const opened = await openClient(server, world, listeners, { isLegacy: true, signal });
      this.isLegacy = true;
      return opened;
    }
  }

  /**
   * After a timed-out call, checks whether the server is alive. If it does not answer within the time-out of a call,
   * the connection is made again.
   */
  private async examine(opened: OpenedClient): Promise<void> {
    if (this.examined === opened || this.opened !== opened) return;
    this.examined = opened;
    const isAlive = await opened.isAlive(this.server.timeoutMs);
    this.examined = null;
    if (!isAlive) await this.lost(opened, 'it no longer answers');
  }

  /** Session state of a stateful server is lost with its connection, so its calls must not be repeated. */
  private async toFailure(opened: OpenedClient, error: unknown): Promise<AppError> {
    if (!isConnectionLost(error)) return toCallError(error, this.server);
    const canBeRepeated = !this.server.isStateful && isNotProcessed(error);
    const fault = await this.lost(opened, withoutSecrets(error, this.server), canBeRepeated);
    const failure = toCallError(error, this.server, fault);
    return canBeRepeated && failure instanceof McpError ? new NotProcessedError(failure) : failure;
  }

  /**
   * Marks a failed connection as lost and closes it in the background. @returns why it ended
   * @param isAwaited whether a call waits for the next connection
   */
  private lost(opened: OpenedClient, why: string, isAwaited = false): Promise<string> {
    if (this.opened === opened) {
      this.opened = null;
      this.isAwaited = isAwaited;
      this.set({ status: 'failed', error: why });
    }
    opened.close(why).catch((error: unknown) => this.logger.warn(withoutSecrets(error, this.server)));
    return opened.ended;
  }

  private set(state: Partial<McpConnectionState> & Pick<McpConnectionState, 'status'>): void {
    const { connects } = this.current;
    this.current = { since: Date.now(), connects, ...state };
    for (const notify of this.watchers) notify();
    this.watchers.clear();
  }

  private async waitForRetry(ms: number): Promise<void> {
    this.wake = new AbortController();
    await pause(ms, undefined, { signal: this.wake.signal, ref: false }).catch(() => undefined);
    this.wake = null;
  }
}

async function failing({ ended }: OpenedClient): Promise<never> {
  throw new Error(await ended);
}
