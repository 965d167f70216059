import { steadyNow } from '../../kernel/index.js';

/** Ends of runs at full capacity before their rate is used. */
const MEASURED_ENDS = 20;
/** Weight of the earlier intervals for each further one: about 20 count. */
const DECAY = 0.95;

interface Waiter<Run> {
  readonly run: Run;
  readonly accept: () => void;
}

/**
 * Starts that wait in memory for capacity: the oldest first, and tenants in turn. Measures how fast capacity becomes
 * free, so that a start without a chance in its time can be refused at once.
 */
export class CapacityWait<Run extends { readonly tenant: string }> {
  /** In the order of their turns. */
  private readonly tenants = new Map<string, Waiter<Run>[]>();
  private count = 0;
  /** Decayed sums of ends at full capacity, and of their intervals in ms. */
  private ends = 0;
  private elapsedMs = 0;
  private measured = 0;
  /** The last end, or the time since which there is no capacity, by the steady clock; `null` while there is some. */
  private last: number | null = null;

  /** @param concurrency the runs that a start may be behind before the rate is known */
  constructor(private readonly concurrency: number) {}

  get length(): number {
    return this.count;
  }

  /** Expected wait of a further start, in ms. */
  get expectedMs(): number {
    if (this.measured < MEASURED_ENDS) return this.count < this.concurrency ? 0 : Number.POSITIVE_INFINITY;
    return ((this.count + 1) * this.elapsedMs) / this.ends;
  }

  /** Measures intervals only while there is no capacity. */
  noteCapacity(isFull: boolean): void {
    if (!isFull) this.last = null;
    else this.last ??= steadyNow();
  }

  /** Notes the end of a run. */
  ended(): void {
    if (this.last === null) return;
    const now = steadyNow();
    this.ends = this.ends * DECAY + 1;
    this.elapsedMs = this.elapsedMs * DECAY + now - this.last;
    this.measured++;
    this.last = now;
  }

  /**
   * Waits for the start's turn.
   * @returns false after `limitMs`, or when the signal is aborted
   */
  async turn(run: Run, limitMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    if (signal?.aborted) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter = { run, accept: () => resolve(true) };
    const abandon = () => {
      // At once: a waiter that has left must not get a place in the same tick.
      this.remove(waiter);
      resolve(false);
    };
    const timer = setTimeout(abandon, limitMs);
    signal?.addEventListener('abort', abandon, { once: true });
    this.add(waiter);
    const isAccepted = await promise;
    clearTimeout(timer);
    signal?.removeEventListener('abort', abandon);
    return isAccepted;
  }

  /** Lets the next start begin. @param mayStart whether its further limits permit it */
  acceptNext(mayStart: (run: Run) => boolean): boolean {
    for (const [tenant, waiters] of this.tenants) {
      const waiter = waiters[0]!;
      if (!mayStart(waiter.run)) continue;
      this.remove(waiter);
      // The tenant's next turn is after those of all others.
      if (this.tenants.delete(tenant)) this.tenants.set(tenant, waiters);
      waiter.accept();
      return true;
    }
    return false;
  }

  private add(waiter: Waiter<Run>): void {
    const { tenant } = waiter.run;
    const waiters = this.tenants.get(tenant);
    if (waiters) waiters.push(waiter);
    else this.tenants.set(tenant, [waiter]);
    this.count++;
  }

  private remove(waiter: Waiter<Run>): void {
    const { tenant } = waiter.run;
    const waiters = this.tenants.get(tenant);
    const at = waiters?.indexOf(waiter) ?? -1;
    if (at < 0) return;
    waiters!.splice(at, 1);
    this.count--;
    if (waiters!.length === 0) this.tenants.delete(tenant);
  }
}
