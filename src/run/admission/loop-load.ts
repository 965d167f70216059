import { performance } from 'node:perf_hooks';

/** Runs below which a busy event loop refuses none: few runs do not exhaust the memory. */
const FEW_RUNS = 32;
const SAMPLE_MS = 100;
/** Share of the time in which the event loop works, above which a further run only makes the others slower. */
const SATURATED = 0.98;
/** Samples in a row above the share. */
const SAMPLES = 5;

/** Detects an event loop without idle time. It samples only while more than a few runs execute. */
export class LoopLoad {
  private timer: NodeJS.Timeout | undefined;
  private before = performance.eventLoopUtilization();
  private saturated = 0;

  /** @param onSample called after each sample */
  constructor(private readonly onSample: () => void) {}

  isOverloaded(runs: number): boolean {
    return runs >= FEW_RUNS && this.saturated >= SAMPLES;
  }

  /** Notes the number of executing runs. */
  watch(runs: number): void {
    if (runs >= FEW_RUNS) this.timer ??= setInterval(() => this.sample(), SAMPLE_MS).unref();
    else this.stop();
  }

  private stop(): void {
    if (!this.timer) return;
    clearInterval(this.timer);
    this.timer = undefined;
    this.saturated = 0;
  }

  private sample(): void {
    const { utilization } = performance.eventLoopUtilization(this.before);
    this.before = performance.eventLoopUtilization();
    this.saturated = utilization >= SATURATED ? this.saturated + 1 : 0;
    this.onSample();
  }
}
