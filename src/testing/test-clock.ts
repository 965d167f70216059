/** The clock of the process, while a test moves it. The timers of Node are real. */
class MovedClock {
  private offsetMs = 0;
  private former = Date;
  /** Users that have moved it. */
  private readonly users = new Set<object>();

  advance(user: object, ms: number): void {
    if (!(ms >= 0)) throw new RangeError(`advance(${ms}): the time must be 0 ms or more.`);
    if (this.users.size === 0) this.install();
    this.users.add(user);
    this.offsetMs += ms;
  }

  /** Returns to the real time after its last user. */
  release(user: object): void {
    if (!this.users.delete(user) || this.users.size > 0) return;
    this.offsetMs = 0;
    globalThis.Date = this.former;
    Reflect.deleteProperty(performance, 'now');
  }

  private install(): void {
    const former = Date;
    this.former = former;
    const now = () => former.now() + this.offsetMs;
    const steady = performance.now.bind(performance);
    // Both clocks: Jackdaw deletes nothing by age after the wall clock alone has jumped.
    performance.now = () => steady() + this.offsetMs;
    globalThis.Date = new Proxy(former, {
      construct: (target, args, newTarget) =>
        Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
      apply: () => new former(now()).toString(),
      get: (target, key, receiver) => (key === 'now' ? now : (Reflect.get(target, key, receiver) as unknown)),
    });
  }
}

/** The clock of all tests of this process. */
export const CLOCK = new MovedClock();
