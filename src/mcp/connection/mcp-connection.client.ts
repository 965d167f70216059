import type { Client } from '@modelcontextprotocol/client';
import { Logger } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { type AppError, untilAborted } from '../../common/index.js';
import { McpError } from '../mcp.error.js';
import type { McpServer, McpServerStatus } from '../mcp-server.types.js';
import { isConnectionLost, isNotTaken, isTimeout, toCallError, toConnectError } from './call-failure.mapper.js';
import { NotTakenError } from './not-taken.error.js';
import { type McpListeners, type McpWorld, openClient, type OpenedClient } from './opened-client.factory.js';
import { ProgramEndedError } from './program-ended.error.js';
import { RetryDelay } from './retry-delay.policy.js';
import { withoutSecrets } from './secret.filter.js';

/** What a connection tells. */
export interface McpConnectionListeners extends McpListeners {
  /** Is asked when it is connected, before any call is made; what it throws ends the connection. */
  readonly connected: (opened: OpenedClient, signal: AbortSignal) => Promise<void>;
}

/** How it stands with a connection. Times are epoch ms. */
export interface McpConnectionState {
  readonly status: McpServerStatus;
  readonly since: number;
  /** How often it has been connected to. */
  readonly connects: number;
  readonly error?: string;
  /** When it is tried again. */
  readonly retryAt?: number;
}

/** One connection to a server, which is made in the background, and made anew when it is lost. */
export class McpConnection {
  private readonly logger = new Logger('McpConnection');
  private readonly closing = new AbortController();
  private opened: OpenedClient | null = null;
  private turn = Promise.withResolvers<void>();
  private current: McpConnectionState = { status: 'connecting', since: Date.now(), connects: 0 };
  private work: Promise<void> | null = null;
  private wake: AbortController | null = null;
  private readonly delay = new RetryDelay();
  private readySince: number | null = null;
  private isLegacy = false;
  /** Whether it is to be made anew at once. */
  private isAwaited = false;
  /** What it ended with last. */
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

  /** What the server says of itself, while it is connected to. */
  get client(): Client | null {
    return this.opened?.client ?? null;
  }

  get pid(): number | null {
    return this.opened?.pid ?? null;
  }

  /** Resolves as soon as it stands so with the connection. */
  async until(isSo: (state: McpConnectionState) => boolean): Promise<void> {
    while (!isSo(this.current)) await new Promise<void>((resolve) => this.watchers.add(resolve));
  }

  /** Begins to connect; never throws. */
  start(): this {
    this.work ??= this.run();
    return this;
  }

  /** Tries at once, if it is between two tries. */
  retryNow(): void {
    this.wake?.abort();
  }

  /**
   * Does something by the connection; while it is being made, that is waited for.
   * @throws McpError; the signal's reason when it is aborted
   */
  async use<T>(work: (client: Client) => Promise<T>, signal: AbortSignal): Promise<T> {
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
   * Resolves when it stands again after a call that was not taken; only the next try is waited for.
   * @throws McpError; the signal's reason when it is aborted
   */
  async renewed(signal: AbortSignal): Promise<void> {
    const isTried = this.until(({ status, retryAt }) => status !== 'failed' || retryAt !== undefined);
    await untilAborted(isTried, signal);
    await this.reach(signal);
  }

  /** Ends it, and the program, if it is one. */
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
    // A call that came before has lost it and waits for the next one: so does this.
    if (this.isAwaited)
      await untilAborted(
        this.until(({ status }) => status !== 'failed'),
        signal,
      );
    if (!this.opened && this.current.status === 'connecting') await untilAborted(this.turn.promise, signal);
    if (this.opened) return this.opened;
    throw this.unreachable();
  }

  private unreachable(): McpError {
    const { name } = this.server;
    if (this.current.status === 'closed') return new McpError('NETWORK_ERROR', `MCP server "${name}" was closed.`);
    const { error = 'it does not answer', retryAt } = this.current;
    const seconds = retryAt === undefined ? 0 : Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
    const message = `MCP server "${name}" is not connected: ${error}; it is tried again in ${seconds} s.`;
    const { code = 'NETWORK_ERROR', cause } = this.failure ?? {};
    return new McpError(code, message, { server: name }, { cause, isRetryable: code === 'NETWORK_ERROR' });
  }

  private async run(): Promise<void> {
    while (!this.closing.signal.aborted) {
      const fault = await this.live();
      if (this.closing.signal.aborted) return;
      if (this.isAwaited) this.logger.warn(`MCP server "${this.server.name}" is connected to anew: ${fault}`);
      else await this.restAfter(fault);
      if (this.closing.signal.aborted) return;
      this.isAwaited = false;
      this.turn = Promise.withResolvers();
      this.turn.promise.catch(() => undefined);
      this.set({ status: 'connecting' });
    }
  }

  private async restAfter(fault: string): Promise<void> {
    const delay = this.delay.next(this.readySince === null ? 0 : performance.now() - this.readySince);
    this.logger.warn(`MCP server "${this.server.name}" is not connected: ${fault}`);
    this.set({ status: 'failed', error: fault, retryAt: Date.now() + delay });
    this.turn.resolve();
    await this.rest(delay);
  }

  /** From the try to connect to the end of the connection. Gives why it ended. */
  private async live(): Promise<string> {
    const { signal } = this.closing;
    let opened: OpenedClient | null = null;
    this.failure = null;
    this.readySince = null;
    try {
      opened = await this.open(signal);
      await Promise.race([this.listeners.connected(opened, signal), failing(opened)]);
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

  /** Some programs end when they are asked what they do not know: the older protocol is tried then. */
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
   * A call that took too long may be slow work, or the sign of a server that is there no more, or hangs: then it is
   * connected to anew. It has as long to say that it is there as a call may take.
   */
  private async examine(opened: OpenedClient): Promise<void> {
    if (this.examined === opened || this.opened !== opened) return;
    this.examined = opened;
    const isThere = await opened.isThere(this.server.timeoutMs);
    this.examined = null;
    if (!isThere) await this.lost(opened, 'it answers nothing any more');
  }

  /** What a server remembers of a session is gone with it: nobody is to go on there as if it were not. */
  private async toFailure(opened: OpenedClient, error: unknown): Promise<AppError> {
    if (!isConnectionLost(error)) return toCallError(error, this.server);
    const canBeRepeated = !this.server.isStateful && isNotTaken(error);
    const fault = await this.lost(opened, withoutSecrets(error, this.server), canBeRepeated);
    const failure = toCallError(error, this.server, fault);
    return canBeRepeated && failure instanceof McpError ? new NotTakenError(failure) : failure;
  }

  /**
   * Gives why a connection that has failed ended. Nobody waits for its end.
   * @param isAwaited whether somebody waits for the next one
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
    for (const tell of this.watchers) tell();
    this.watchers.clear();
  }

  private async rest(ms: number): Promise<void> {
    this.wake = new AbortController();
    await pause(ms, undefined, { signal: this.wake.signal, ref: false }).catch(() => undefined);
    this.wake = null;
  }
}

async function failing({ ended }: OpenedClient): Promise<never> {
  throw new Error(await ended);
}
