export const DAY_MS = 86_400_000;

let last = { number: Number.NaN, text: '' };

/** The day of a time, UTC: `2027-01-31`. @param at epoch ms */
export function dayOf(at: number): string {
  const number = Math.floor(at / DAY_MS);
  if (number !== last.number) last = { number, text: new Date(at).toISOString().slice(0, 10) };
  return last.text;
}

/**
 * The time since the epoch in ms, on a clock that never jumps: the wall clock at the start of the process plus the elapsed
 * time. For durations, deadlines and pauses within a process. Stored and displayed times are of the wall clock.
 */
export function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}
