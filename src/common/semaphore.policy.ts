interface Waiter {
  readonly enter: () => void;
}

/** A number of places, and who waits for one, first come first served. */
export class Semaphore {
  private taken = 0;
  private readonly waiting = new Set<Waiter>();

  constructor(private readonly places: number) {}

  get takenPlaces(): number {
    return this.taken;
  }

  get waiters(): number {
    return this.waiting.size;
  }

  get isFull(): boolean {
    return this.taken >= this.places;
  }

  /** Waits for a place, which is to be left; rejects with the signal's reason when it is aborted before. */
  async enter(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (!this.tryEnter()) await this.turn(signal);
  }

  /** Takes a place, which is to be left, if one is free. */
  tryEnter(): boolean {
    if (this.isFull) return false;
    this.taken++;
    return true;
  }

  /** Hands the place on to who waits longest. */
  leave(): void {
    const [next] = this.waiting;
    if (!next) return void this.taken--;
    this.waiting.delete(next);
    next.enter();
  }

  private turn(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        enter: () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        },
      };
      const stop = () => {
        this.waiting.delete(waiter);
        reject(signal!.reason as Error);
      };
      this.waiting.add(waiter);
      signal?.addEventListener('abort', stop, { once: true });
    });
  }
}
