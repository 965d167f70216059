import type { RunItem } from '../event/run-item.factory.js';

/** Followers woken in one turn of the event loop; their writes take a few ms. */
const WAKE_UPS_A_TURN = 100;

/** Wakes followers: at once, but with a limit per turn of the event loop, so that other work is not delayed. */
export class WakeUpExecutor {
  private waiting: (() => void)[] = [];
  /** Since the last pause, which may be long ago. */
  private woken = 0;

  wake(follower: () => void): void {
    if (this.woken < WAKE_UPS_A_TURN) {
      this.woken++;
      follower();
    } else if (this.waiting.push(follower) === 1) this.pause();
  }

  private pause(): void {
    setImmediate(() => {
      const now = this.waiting.slice(0, WAKE_UPS_A_TURN);
      this.waiting = this.waiting.slice(WAKE_UPS_A_TURN);
      this.woken = now.length;
      if (this.waiting.length > 0) this.pause();
      for (const follower of now) follower();
    });
  }
}

/** Bytes that may wait for a reader before a further item is dropped. */
const MAX_BYTES = 1_000_000;
/** Consumed items retained in the array, so that not every take moves the rest. */
const MAX_TAKEN = 64;

/**
 * The items that one follower has not consumed yet. When too many bytes wait, they are dropped: the follower reads them
 * from the journal.
 */
export class FollowerBacklog {
  private items: RunItem[] = [];
  private head = 0;
  /** The item being consumed. */
  private current: RunItem | null = null;
  private bytes = 0;
  private isClosed = false;
  private hasDropped = false;
  private wake: (() => void) | null = null;

  constructor(private readonly wakeUps: WakeUpExecutor) {}

  /** Whether items were dropped since the last `resume`. None can be taken until then. */
  get isBehind(): boolean {
    return this.hasDropped;
  }

  /** Accepts items again; all later ones. */
  resume(): void {
    this.hasDropped = false;
  }

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
    if (!this.hasDropped && this.bytes > MAX_BYTES) this.drop();
    // The last event of the stream: the journal does not have it.
    this.isClosed = item.event.type === 'stream.closed';
    if (!this.hasDropped || this.isClosed) {
      this.bytes += item.bytes;
      this.items.push(item);
    }
    this.wakeUp();
  }

  /** The next item, if any; the previous one is consumed. */
  take(): RunItem | undefined {
    if (this.current) this.bytes -= this.current.bytes;
    this.current = null;
    if (this.hasDropped) return undefined;
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
    if (this.hasDropped || this.head < this.items.length) return true;
    if (this.isClosed) return false;
    await new Promise<void>((resolve) => (this.wake = resolve));
    return this.hasDropped || this.head < this.items.length;
  }

  /** Accepts no more items; present ones can still be taken. */
  close(): void {
    this.isClosed = true;
    this.hasDropped = false;
    this.wakeUp();
  }

  private wakeUp(): void {
    if (this.wake) this.wakeUps.wake(this.wake);
    this.wake = null;
  }

  private drop(): void {
    this.hasDropped = true;
    this.items = [];
    this.head = 0;
    this.bytes = this.current?.bytes ?? 0;
  }
}
