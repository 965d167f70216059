const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Delays before the second to the last attempt, in ms: 12 attempts within about 28 hours. */
const DELAYS_MS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  6 * HOUR,
  7 * HOUR,
  7 * HOUR,
];
/** Most that a delay is extended, as a share of it: requests that failed together are repeated apart. */
const SPREAD = 0.2;

/** Longest delay that a receiver can request by `Retry-After`, in ms. */
export const LONGEST_DELAY_MS = 12 * HOUR;

/**
 * The delay before the next attempt, in ms; `null` after the last.
 * @param attempts failed attempts so far, at least 1
 */
export function retryDelayMs(attempts: number, random: () => number = Math.random): number | null {
  const delayMs = DELAYS_MS[attempts - 1];
  return delayMs === undefined ? null : Math.round(delayMs * (1 + SPREAD * random()));
}
