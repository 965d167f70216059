/** Sampling of long texts. */
export interface Sampling {
  /** Maximum length without sampling, in UTF-16 units. */
  readonly maxLength: number;
  readonly windows: number;
  /** Length of a window, in UTF-16 units. */
  readonly windowLength: number;
}

/** Standard errors to add to the mean: negligible for uniform texts, and avoids underestimates of uneven ones. */
const MARGIN = 2;

/**
 * Counts a text with `count`. A long text is extrapolated from evenly spaced windows, by their mean and standard error,
 * so the CPU time is bounded. Windows cut words, so the result tends to be too high.
 */
export function countSampled(
  text: string,
  { maxLength, windows, windowLength }: Sampling,
  count: (text: string) => number,
): number {
  if (text.length <= maxLength) return count(text);
  const step = (text.length - windowLength) / (windows - 1);
  let sum = 0;
  let squares = 0;
  for (let i = 0; i < windows; i++) {
    const start = Math.floor(i * step);
    const tokens = count(text.slice(start, start + windowLength));
    sum += tokens;
    squares += tokens * tokens;
  }
  const mean = sum / windows;
  const error = Math.sqrt(Math.max(0, squares / windows - mean * mean) / windows);
  return Math.ceil(((mean + MARGIN * error) * text.length) / windowLength);
}
