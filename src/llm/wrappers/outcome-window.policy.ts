const SLICES = 10;

/** Counts of successes and failures within the last `windowMs`, in ten slices. Times are of the steady clock, in ms. */
export class OutcomeWindow {
  private readonly slices = Array.from({ length: SLICES }, () => ({ index: 0, succeeded: 0, failed: 0 }));
  private readonly sliceMs: number;

  constructor(windowMs: number) {
    this.sliceMs = windowMs / SLICES;
  }

  add(outcome: 'succeeded' | 'failed', now: number): void {
    const index = Math.floor(now / this.sliceMs);
    const slice = this.slices[index % SLICES]!;
    if (slice.index !== index) Object.assign(slice, { index, succeeded: 0, failed: 0 });
    slice[outcome]++;
  }

  counts(now: number): { readonly total: number; readonly failed: number } {
    const oldest = Math.floor(now / this.sliceMs) - SLICES + 1;
    const recent = this.slices.filter(({ index }) => index >= oldest);
    const failed = recent.reduce((sum, slice) => sum + slice.failed, 0);
    return { failed, total: recent.reduce((sum, slice) => sum + slice.succeeded, failed) };
  }

  clear(): void {
    for (const slice of this.slices) Object.assign(slice, { index: 0, succeeded: 0, failed: 0 });
  }
}
