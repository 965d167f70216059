/**
 * The time since the epoch in ms, on a clock that never jumps: the wall clock at the start of the process plus the elapsed
 * time. For durations, deadlines and pauses within a process. Stored and displayed times are of the wall clock.
 */
export function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}
