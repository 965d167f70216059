/**
 * The delay that a server requests, in ms: `retry-after-ms`, or `Retry-After` in seconds or as an HTTP date (RFC 9110,
 * 10.2.3). Undefined if the headers are absent or invalid.
 */
export function parseRetryAfter(header: (name: string) => string | null, now = Date.now()): number | undefined {
  const ms = toNumber(header('retry-after-ms'));
  if (ms !== undefined) return Math.ceil(ms);
  const value = header('retry-after');
  const seconds = toNumber(value);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  const date = value ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function toNumber(text: string | null): number | undefined {
  if (text === null || text.trim() === '') return undefined;
  const value = Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}
