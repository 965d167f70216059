import type { HealthSignal, Readiness } from '../../health/index.js';

/** Interval of ticks, in ms. */
export const TICK_MS = 250;
/** Ticks without a signal after which a worker is not alive; after half of them its readiness is too old. */
const SILENT_TICKS = 40;

/** The health of a worker by its signals. Ticks of the supervisor are counted: a suspended machine suspends both. */
export class WorkerHealth {
  private silentTicks = 0;
  private readinessTicks = 0;
  private readiness: Readiness | undefined;

  note(signal: HealthSignal): void {
    this.silentTicks = 0;
    if (signal === 'beat') return;
    this.readinessTicks = 0;
    this.readiness = signal;
  }

  tick(): void {
    this.silentTicks++;
    this.readinessTicks++;
  }

  get isAlive(): boolean {
    return this.silentTicks < SILENT_TICKS;
  }

  /** The last result of the readiness check; undefined without one that is new enough. */
  get lastReadiness(): Readiness | undefined {
    return this.readinessTicks < SILENT_TICKS / 2 ? this.readiness : undefined;
  }
}
