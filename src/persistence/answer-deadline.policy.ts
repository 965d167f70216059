/** Something that is waited for. */
export interface Awaited {
  readonly isResolved: boolean;
  reject(error: Error): void;
}

/** How often is looked in the time that is waited at most. */
const LOOKS = 8;

/**
 * Fails what has not been answered in time, up to an eighth later. One timer looks at all that is waited for: to set and clear
 * one for each costs nearly as much as a Redis that is near. It counts its looks, not the time, so that a process that stood
 * still itself does not blame it on others.
 */
export class AnswerDeadline {
  private waiting: { readonly one: Awaited; readonly until: number }[] = [];
  private looks = 0;
  private timer: NodeJS.Timeout | undefined;

  /** @param timeoutMs the longest wait */
  constructor(private readonly timeoutMs: number) {}

  watch(one: Awaited): void {
    // Answers come in the order of what was asked.
    while (this.waiting[0]?.one.isResolved === true) this.waiting.shift();
    // The next look comes at once, perhaps.
    this.waiting.push({ one, until: this.looks + 1 + LOOKS });
    this.timer ??= setInterval(() => this.look(), this.timeoutMs / LOOKS).unref();
  }

  private look(): void {
    const now = ++this.looks;
    const open = this.waiting.filter(({ one }) => !one.isResolved);
    this.waiting = open.filter(({ until }) => until > now);
    // Whatever has failed already does not fail again.
    for (const { one, until } of open) if (until <= now) one.reject(new Error(`no answer in ${this.timeoutMs} ms`));
    if (this.waiting.length > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
