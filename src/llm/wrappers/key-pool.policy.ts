/** How a key stands, for people: never the key itself. */
export interface KeyPoolState {
  readonly total: number;
  /** That the provider has limited for now. */
  readonly cooling: number;
  /** That the provider refuses. */
  readonly retired: number;
}

interface PooledKey {
  readonly key: string;
  /** When it was limited last, epoch ms; 0 is never. */
  limitedAt: number;
  /** Epoch ms. */
  coolUntil: number;
  isRetired: boolean;
}

/** The keys of one provider, shared by all its models. */
export class KeyPool {
  /** In the order in which they are tried. */
  private keys: PooledKey[] = [];

  constructor(keys: readonly string[]) {
    this.replace(keys);
  }

  /** Takes other keys from now on; what is known of those that stay is kept. */
  replace(keys: readonly string[]): void {
    const known = new Map(this.keys.map((one) => [one.key, one]));
    this.keys = [...new Set(keys)].map(
      (key) => known.get(key) ?? { key, limitedAt: 0, coolUntil: 0, isRetired: false },
    );
    this.sort();
  }

  /** The keys that may be tried now, in this order: the one that was limited least recently first. */
  usable(now = Date.now()): string[] {
    const free: string[] = [];
    for (const { key, isRetired, coolUntil } of this.keys) if (!isRetired && coolUntil <= now) free.push(key);
    return free;
  }

  /** Any of them, whatever its state. */
  get first(): string | undefined {
    return this.keys[0]?.key;
  }

  /** When the next key may be tried again, epoch ms; `null` when none will. */
  nextAt(): number | null {
    const alive = this.keys.filter(({ isRetired }) => !isRetired);
    return alive.length === 0 ? null : Math.min(...alive.map(({ coolUntil }) => coolUntil));
  }

  /** The provider limits it: it rests so long, in ms. */
  cool(key: string, ms: number, now = Date.now()): void {
    const found = this.find(key);
    if (!found) return;
    found.limitedAt = now;
    found.coolUntil = Math.max(found.coolUntil, now + ms);
    this.sort();
  }

  /** The provider refuses it: it is not tried again, unless it is given anew. */
  retire(key: string): void {
    const found = this.find(key);
    if (found) found.isRetired = true;
  }

  state(now = Date.now()): KeyPoolState {
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
