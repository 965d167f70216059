import { signal } from '@preact/signals';

const TICK_MS = 30_000;

const ticks = signal(0);
setInterval(() => ticks.value++, TICK_MS);

/** Renders the calling component again twice a minute: distances from now stay true on an open page. */
export function followTime(): void {
  void ticks.value;
}
