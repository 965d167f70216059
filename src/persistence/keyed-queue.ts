/** Runs the work of each key sequentially in this process, so that only other processes can interfere. */
export class KeyedQueue {
  private readonly last = new Map<string, Promise<unknown>>();

  /** Runs work after all earlier work of its key, also after failed work. Work without predecessors starts at once. */
  async next<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(key);
    const done = before ? before.then(work, work) : work();
    this.last.set(key, done);
    try {
      return await done;
    } finally {
      if (this.last.get(key) === done) this.last.delete(key);
    }
  }

  /** Resolves when the present work has ended. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.last.values());
  }
}
