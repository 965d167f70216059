/** Runs the changes of a context one after the other in this process, so that only other processes can interfere. */
export class ContextQueue {
  private readonly last = new Map<string, Promise<unknown>>();

  async next<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(id);
    const done = before ? before.then(work, work) : work();
    this.last.set(id, done);
    try {
      return await done;
    } finally {
      if (this.last.get(id) === done) this.last.delete(id);
    }
  }
}
