/** How a text is counted that is too long to be counted whole. */
export interface Sampling {
  /** Longest text that is counted whole, in UTF-16 units. */
  readonly maxLength: number;
  readonly windows: number;
  /** Length of a window, in UTF-16 units. */
  readonly windowLength: number;
}

/** Standard errors that are put on top of the mean: an even text gains next to nothing, a patchy one is not undershot. */
const MARGIN = 2;

/**
 * Counts a text with `count`: whole, or when it is long by evenly spread windows, from their mean and its error. What a
 * text costs is bounded whatever its length; the windows cut words, so that it is rather too much than too little.
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
