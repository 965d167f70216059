import type { Dispatcher } from 'undici';
import type { CallOptions } from '../chat.types.js';
import type { HttpClient } from '../http.client.js';
import type { ExchangeLimits } from './exchange.handler.js';
import type { WireResponse } from './fetch.client.js';

/** A provider's SDK, bound to one endpoint. */
export interface EndpointClient {
  /** Sends a request; the caller reads the reply. @throws WireFailure */
  send(body: Record<string, unknown>, limits: ExchangeLimits): Promise<WireResponse>;
}

/** An endpoint of a provider, as its models use it. */
export interface ModelClient {
  /**
   * Sends a request; the caller reads the reply.
   *
   * @param spentMs time of the call before this request, in ms
   * @throws WireFailure; the signal's reason if it is already aborted
   */
  send(body: Record<string, unknown>, options: CallOptions, spentMs?: number): Promise<WireResponse>;
}

type ReplyLimits = Omit<ExchangeLimits, 'signal'>;

/** Loads an SDK; returns a function that binds it to a pool. */
export type SdkLoader = () => Promise<(pool: Dispatcher) => EndpointClient>;

/** One endpoint of a provider. The first call loads the SDK, which takes over 100 ms. */
export class WireClient implements ModelClient {
  private client?: Promise<EndpointClient>;

  private readonly limits: ReplyLimits;

  constructor(
    { timeoutMs, idleMs, totalMs }: ReplyLimits,
    private readonly http: HttpClient,
    private readonly load: SdkLoader,
  ) {
    this.limits = { timeoutMs, idleMs, totalMs };
  }

  async send(body: Record<string, unknown>, { signal }: CallOptions, spentMs = 0): Promise<WireResponse> {
    signal?.throwIfAborted();
    this.client ??= this.connect();
    const client = await this.client;
    const { totalMs, ...limits } = this.limits;
    const restMs = totalMs === undefined ? undefined : Math.max(1, totalMs - spentMs);
    return client.send(body, { signal, ...limits, totalMs: restMs });
  }

  /** The next call retries a failed load. */
  private async connect(): Promise<EndpointClient> {
    try {
      const [bind, pool] = await Promise.all([this.load(), this.http.open()]);
      return bind(pool);
    } catch (error) {
      delete this.client;
      throw error;
    }
  }
}
