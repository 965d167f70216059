import { RunItem } from '../run-item.factory.js';
import type { WakeUpExecutor } from './wake-up.executor.js';

/** Bytes of live events that may wait for a reader; one who is further behind is cut off. */
const MAX_BYTES = 1_000_000;
/** How long, in ms, a reader may be so far behind if it is by journaled events, which may be large and come at once. */
const GRACE_MS = 5_000;
/** Items that have been taken and are still held, so that the others need not be moved for each. */
const MAX_TAKEN = 64;

/**
 * What has been told and one follower has not taken yet. A reader that falls too far behind gets what is there already,
 * then hears why no more comes.
 */
export class FollowerBacklog {
  private items: RunItem[] = [];
  private head = 0;
  /** The item that is being taken. */
  private current: RunItem | null = null;
  private bytes = 0;
  private liveBytes = 0;
  private isClosed = false;
  private wake: (() => void) | null = null;

  constructor(
    private readonly runId: string,
    private readonly wakeUps: WakeUpExecutor,
  ) {}

  /** Whether a journaled event after the place `n` has come. */
  reachesBeyond(n: number): boolean {
    return this.items.some((item) => item.n !== null && item.n > n);
  }

  /** Whether it holds all that was told after the place `n`. */
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

  /** The next item, when there is one; the one taken before it is done with. */
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

  /** Resolves when something has come, or nothing more will: then `false`. */
  async arrival(): Promise<boolean> {
    if (this.head < this.items.length) return true;
    if (this.isClosed) return false;
    await new Promise<void>((resolve) => (this.wake = resolve));
    return this.head < this.items.length;
  }

  /** Nothing more comes; what is there can still be taken. */
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
