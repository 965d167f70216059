import { RunItem } from '../run-item.factory.js';
import type { WakeUpExecutor } from './wake-up.executor.js';

/** Bytes of live events that may wait for a reader; a slower reader is disconnected. */
const MAX_BYTES = 1_000_000;
/** Longest time, in ms, a reader may be that far behind in journaled events, which may be large and arrive at once. */
const GRACE_MS = 5_000;
/** Consumed items retained in the array, so that not every take moves the rest. */
const MAX_TAKEN = 64;

/**
 * The items that one follower has not consumed yet. A reader that falls too far behind gets the present items, then a
 * `stream.closed` event with the reason.
 */
export class FollowerBacklog {
  private items: RunItem[] = [];
  private head = 0;
  /** The item being consumed. */
  private current: RunItem | null = null;
  private bytes = 0;
  private liveBytes = 0;
  private isClosed = false;
  private wake: (() => void) | null = null;

  constructor(
    private readonly runId: string,
    private readonly wakeUps: WakeUpExecutor,
  ) {}

  /** Whether it has received a journaled event after the number `n`. */
  reachesBeyond(n: number): boolean {
    return this.items.some((item) => item.n !== null && item.n > n);
  }

  /** Whether it has all journaled events after the number `n`. */
  holdsAllAfter(n: number): boolean {
    const first = this.items.find((item) => item.n !== null)?.n;
    return first !== undefined && first !== null && first <= n + 1;
  }

  push(item: RunItem): void {
    if (this.isClosed) return;
    const isBehind = this.bytes > MAX_BYTES && item.at - this.oldest > GRACE_MS;
    this.count(item, 1);
    if (isBehind || this.liveBytes > MAX_BYTES) this.cutOff(item.at);
    else this.items.push(item);
    this.wakeUp();
  }

  /** The next item, if any; the previous one is consumed. */
  take(): RunItem | undefined {
    if (this.current) this.count(this.current, -1);
    if (this.head === this.items.length || this.head === MAX_TAKEN) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    const next = this.items[this.head];
    this.current = next ?? null;
    if (next) this.head++;
    return next;
  }

  /** Resolves with `true` when an item is available, with `false` when none will follow. */
  async arrival(): Promise<boolean> {
    if (this.head < this.items.length) return true;
    if (this.isClosed) return false;
    await new Promise<void>((resolve) => (this.wake = resolve));
    return this.head < this.items.length;
  }

  /** Accepts no more items; present ones can still be taken. */
  close(): void {
    this.isClosed = true;
    this.wakeUp();
  }

  private wakeUp(): void {
    if (this.wake) this.wakeUps.wake(this.wake);
    this.wake = null;
  }

  private get oldest(): number {
    return (this.current ?? this.items[this.head])?.at ?? Number.MAX_SAFE_INTEGER;
  }

  private cutOff(at: number): void {
    this.items.push(new RunItem(null, at, { type: 'stream.closed', run_id: this.runId, code: 'SLOW_READER' }));
    this.isClosed = true;
  }

  private count(item: RunItem, sign: 1 | -1): void {
    this.bytes += sign * item.bytes;
    if (item.n === null) this.liveBytes += sign * item.bytes;
  }
}
