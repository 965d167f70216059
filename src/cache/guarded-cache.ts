import { Log, messageOf } from '../errors/index.js';
import { untilAborted } from '../kernel/index.js';
import { Cache } from './cache.js';

/** Time limit of an operation, in ms; a slower cache is useless. */
export const CACHE_TIMEOUT_MS = 500;
/** Minimum interval between warnings, in ms. */
const WARNING_INTERVAL_MS = 60_000;

/** Makes an unavailable or slow cache count as a miss. */
export class GuardedCache extends Cache {
  private readonly logger = new Log('Cache');
  private warnedAt = -Infinity;

  /** @param name name of the cache in warnings */
  constructor(
    private readonly cache: Cache,
    private readonly name: string,
  ) {
    super();
  }

  async get(key: string): Promise<string | null> {
    const found: unknown = await this.orNull(() => this.cache.get(key));
    return typeof found === 'string' ? found : null;
  }

  async set(key: string, value: string, ttlMs?: number): Promise<void> {
    await this.orNull(() => this.cache.set(key, value, ttlMs));
  }

  async close(): Promise<void> {
    await this.cache.close();
  }

  private async orNull<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      const operation = (async () => work())();
      return await untilAborted(operation, AbortSignal.timeout(CACHE_TIMEOUT_MS));
    } catch (error) {
      const now = performance.now();
      if (now - this.warnedAt < WARNING_INTERVAL_MS) return null;
      this.warnedAt = now;
      this.logger.warn(`${this.name} unavailable; treating entries as missing: ${messageOf(error)}`);
      return null;
    }
  }
}
