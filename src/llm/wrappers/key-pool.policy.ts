import { steadyNow } from '../../kernel/index.js';

/** Counts of keys by state, for operators; never contains a key. */
export interface KeyPoolState {
  readonly total: number;
  /** Keys that the provider currently rate-limits. */
  readonly cooling: number;
  /** Keys that the provider rejects. */
  readonly retired: number;
}

interface PooledKey {
  readonly key: string;
  /** Time of the last rate limit, by the steady clock; 0 is never. */
  limitedAt: number;
  /** End of the cooldown, by the steady clock. */
  coolUntil: number;
  isRetired: boolean;
}

/** The keys of one provider, shared by all its models. */
export class KeyPool {
  /** In the order of use. */
  private keys: PooledKey[] = [];

  constructor(keys: readonly string[]) {
    this.replace(keys);
  }

  /** Replaces the keys; those in both sets retain their state. */
  replace(keys: readonly string[]): void {
    const known = new Map(this.keys.map((one) => [one.key, one]));
    this.keys = [...new Set(keys)].map(
      (key) => known.get(key) ?? { key, limitedAt: 0, coolUntil: 0, isRetired: false },
    );
    this.sort();
  }

  /** The usable keys, least recently rate-limited first. */
  usable(now = steadyNow()): string[] {
    const free: string[] = [];
    for (const { key, isRetired, coolUntil } of this.keys) if (!isRetired && coolUntil <= now) free.push(key);
    return free;
  }

  /** Any key, whatever its state. */
  get first(): string | undefined {
    return this.keys[0]?.key;
  }

  /** Time at which the next key becomes usable, by the steady clock; `null` if all keys are retired. */
  nextAt(): number | null {
    const alive = this.keys.filter(({ isRetired }) => !isRetired);
    return alive.length === 0 ? null : Math.min(...alive.map(({ coolUntil }) => coolUntil));
  }

  /** Sets a rate-limited key aside for `ms`. */
  cool(key: string, ms: number, now = steadyNow()): void {
    const found = this.find(key);
    if (!found) return;
    found.limitedAt = now;
    found.coolUntil = Math.max(found.coolUntil, now + ms);
    this.sort();
  }

  /** Retires a rejected key until it is removed from the pool and added again. */
  retire(key: string): void {
    const found = this.find(key);
    if (found) found.isRetired = true;
  }

  state(now = steadyNow()): KeyPoolState {
    return {
      total: this.keys.length,
      cooling: this.keys.filter(({ isRetired, coolUntil }) => !isRetired && coolUntil > now).length,
      retired: this.keys.filter(({ isRetired }) => isRetired).length,
    };
  }

  private sort(): void {
    this.keys.sort((a, b) => a.limitedAt - b.limitedAt);
  }

  private find(key: string): PooledKey | undefined {
    return this.keys.find((one) => one.key === key);
  }
}
