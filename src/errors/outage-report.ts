import type { Log } from './log.js';
import { messageOf } from './app.error.js';

/** Reports an outage of a component in the log: one line at its start, and one at its end. */
export class OutageReport {
  private since: number | null = null;

  /**
   * @param name the component, at the start of the lines
   * @param consequence a sentence about the behaviour during the outage
   */
  constructor(
    private readonly logger: Log,
    private readonly name: string,
    private readonly consequence: string,
  ) {}

  get isOpen(): boolean {
    return this.since !== null;
  }

  failed(cause: unknown): void {
    if (this.since !== null) return;
    this.since = performance.now();
    this.logger.warn(`${this.name} is unavailable: ${messageOf(cause)}. ${this.consequence}`);
  }

  recovered(): void {
    if (this.since === null) return;
    const seconds = ((performance.now() - this.since) / 1000).toFixed(1);
    this.since = null;
    this.logger.log(`${this.name} is available again after ${seconds} s`);
  }
}
