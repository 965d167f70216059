import { AsyncLocalStorage } from 'node:async_hooks';
import { getHeapStatistics } from 'node:v8';
import { steadyNow } from './clock.js';

const MIB = 1024 * 1024;
/** Part of `heap_size_limit` that may be the young generation, in bytes: 192 MiB in Node 24, 48 MiB before. */
const YOUNG_BYTES = 192 * MIB;
/** Heap of the code and of an idle application, in bytes. */
const BASE_BYTES = 80 * MIB;
/** The part of the rest that reservations may fill. Garbage and all that is not reserved need the other part. */
const RESERVABLE = 0.5;
/** Parts of the budget for new work, and for accepted work that waits. Started work may grow into the whole budget. */
const NEW_WORK = 0.6;
const ACCEPTED_WORK = 0.8;
/** Largest reservation of accepted work, as a part of the budget. */
const LARGEST = 0.5;
/** The part of the budget that each reservation may grow by even if the budget is exhausted: large ones fail first. */
const SMALL = 0.01;
/** Time after a refusal of accepted work in which new work may use only half of its part, in ms. */
const TURN_MS = 1_000;

/** Bytes that reservations may have together, by the limit of this process's heap (`--max-old-space-size`). */
export function heapBudgetBytes(heapLimit = getHeapStatistics().heap_size_limit): number {
  const old = Math.max(heapLimit - YOUNG_BYTES, heapLimit / 2);
  return Math.max(old - BASE_BYTES, old / 4) * RESERVABLE;
}

/**
 * Heap bytes for each byte of content, while it is in use. Measured with `heapUsed` after a collection: 10 chats with prompts
 * of 1 MB, during their model calls, need 4.2 bytes for each byte of ASCII (text, input, message, request to the provider);
 * 10 streamed replies of 1 MB need 1.2 until their end, where result, event, turn and answer are copies of the text. Text with
 * a character beyond Latin-1 needs twice as much. With these values no load of `test/faults/heap.spec.ts` exhausts 200 MB.
 */
export const HEAP_COST = {
  /** A request body, until its run has ended. */
  request: 8,
  /** The stored input and results of a run that resumes. */
  journal: 4,
  /** A reply of a provider, as sent. */
  reply: 8,
  /** The text of a tool result, until it is recorded. */
  result: 4,
} as const;

/** The reservation of the request, run or call in whose async context the code runs. */
const context = new AsyncLocalStorage<HeapReservation>();

/**
 * The heap that requests, runs and calls may use together, in bytes. Reservations are estimates: each user multiplies the
 * bytes that it has received by the copies that it makes of them.
 */
export class HeapBudget {
  private reserved = 0;
  /** By the steady clock, in ms. */
  private turnEndsAt = 0;

  /** @param onRefused called after each refusal */
  constructor(
    readonly limit: number = heapBudgetBytes(),
    private readonly onRefused: () => void = () => undefined,
  ) {}

  /** Reserved bytes. */
  get used(): number {
    return this.reserved;
  }

  /** Reserves bytes for new work. @returns null if there is no space for it; release the reservation otherwise */
  open(bytes: number): HeapReservation | null {
    const part = steadyNow() < this.turnEndsAt ? NEW_WORK / 2 : NEW_WORK;
    if (this.reserved + bytes > this.limit * part) {
      this.onRefused();
      return null;
    }
    return this.openAnyway(bytes);
  }

  /** As `open`, for accepted work: it waits, so it gets its turn however large it is. */
  openAccepted(bytes: number): HeapReservation | null {
    const needed = Math.min(bytes, this.limit * LARGEST);
    const isFree = this.reserved + needed <= this.limit * ACCEPTED_WORK;
    this.turnEndsAt = isFree ? 0 : steadyNow() + TURN_MS;
    return isFree ? this.openAnyway(needed) : null;
  }

  /** As `open`, for work that cannot wait. */
  openAnyway(bytes: number): HeapReservation {
    this.reserved += bytes;
    return new HeapReservation(this, bytes);
  }

  /**
   * Adds bytes to a reservation.
   * @param grown bytes by which it will have grown
   * @returns false, and nothing is reserved, if the budget is exhausted
   */
  add(bytes: number, grown: number): boolean {
    if (grown > this.limit * SMALL && this.reserved + bytes > this.limit) {
      this.onRefused();
      return false;
    }
    this.reserved += bytes;
    return true;
  }

  free(bytes: number): void {
    this.reserved -= bytes;
  }
}

/** The part of the budget of one request, run or call. Its last owner releases it. */
export class HeapReservation {
  private owners = 1;
  private grown = 0;

  /** @param bytes as opened */
  constructor(
    private readonly budget: HeapBudget,
    private readonly bytes: number,
  ) {}

  /** The reservation of the current async context, unless it was released. */
  static get current(): HeapReservation | undefined {
    const reservation = context.getStore();
    return reservation && reservation.owners > 0 ? reservation : undefined;
  }

  /** Adds bytes to the current reservation. @returns false if the budget is exhausted */
  static grow(bytes: number): boolean {
    return HeapReservation.current?.grow(bytes) ?? true;
  }

  /** Executes a part of the current work, whose bytes are released at its end. */
  static async during<T>(action: () => Promise<T>): Promise<T> {
    const current = HeapReservation.current;
    if (!current) return action();
    const own = current.budget.openAnyway(0);
    try {
      return await own.run(action);
    } finally {
      own.release();
    }
  }

  /** Executes code in whose async context the reservation is the current one. */
  run<T>(action: () => T): T {
    return context.run(this, action);
  }

  /** @returns false, and nothing is added, if the budget is exhausted */
  grow(bytes: number): boolean {
    // A late part of a call whose run has ended.
    if (this.owners === 0) return true;
    if (!this.budget.add(bytes, this.grown + bytes)) return false;
    this.grown += bytes;
    return true;
  }

  /** Adds an owner, who must release it too. */
  retain(): this {
    this.owners++;
    return this;
  }

  release(): void {
    if (this.owners === 0 || --this.owners > 0) return;
    this.budget.free(this.bytes + this.grown);
  }
}
