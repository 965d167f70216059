import type { CallOptions } from '../chat.types.js';
import type { HttpClient } from '../http.client.js';
import type { WireResponse } from './fetch.client.js';
import type { SdkClient } from './sdk.client.js';
import type { WireAccess } from './wire-dialect.types.js';

/** One endpoint of a provider. The SDK, which takes over 100 ms to load, is loaded when the first call is made. */
export class WireClient {
  private client?: Promise<SdkClient>;

  constructor(
    private readonly access: WireAccess,
    private readonly http: HttpClient,
    /** Behind the base URL. */
    private readonly path: string,
  ) {}

  /** Posts; the reply is read by the caller. Throws a `WireFailure`, or the signal's reason when it is aborted already. */
  async send(body: Record<string, unknown>, { signal }: CallOptions): Promise<WireResponse> {
    signal?.throwIfAborted();
    this.client ??= this.connect();
    const client = await this.client;
    return client.send(body, { signal, timeoutMs: this.access.timeoutMs });
  }

  /** A load that failed is tried again. */
  private async connect(): Promise<SdkClient> {
    try {
      const [sdk, pool] = await Promise.all([import('./sdk.client.js'), this.http.open()]);
      return new sdk.SdkClient(this.access, pool, this.path);
    } catch (error) {
      delete this.client;
      throw error;
    }
  }
}
