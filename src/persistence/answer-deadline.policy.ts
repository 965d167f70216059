/** A pending request. */
export interface Awaited {
  readonly isResolved: boolean;
  reject(error: Error): void;
}

/** Checks per time-out period. */
const CHECKS = 8;

/**
 * Rejects requests without an answer in time, up to an eighth of the time-out late. One timer checks all requests: a
 * timer per request costs nearly as much as a round trip to a nearby Redis. It counts its own checks instead of reading
 * the clock, so that a freeze of this process does not expire requests.
 */
export class AnswerDeadline {
  private waiting: { readonly one: Awaited; readonly until: number }[] = [];
  private checks = 0;
  private timer: NodeJS.Timeout | undefined;

  /** @param timeoutMs longest wait */
  constructor(private readonly timeoutMs: number) {}

  watch(one: Awaited): void {
    // Answers arrive in the order of the requests.
    while (this.waiting[0]?.one.isResolved === true) this.waiting.shift();
    // One extra, as the next check may follow at once.
    this.waiting.push({ one, until: this.checks + 1 + CHECKS });
    this.timer ??= setInterval(() => this.check(), this.timeoutMs / CHECKS).unref();
  }

  private check(): void {
    const now = ++this.checks;
    const open = this.waiting.filter(({ one }) => !one.isResolved);
    this.waiting = open.filter(({ until }) => until > now);
    // A request that has failed already ignores a second rejection.
    for (const { one, until } of open) if (until <= now) one.reject(new Error(`no answer in ${this.timeoutMs} ms`));
    if (this.waiting.length > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
