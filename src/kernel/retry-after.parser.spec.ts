import { expect, it } from 'vitest';
import { parseRetryAfter } from './retry-after.parser.js';

const NOW = Date.parse('Sun, 06 Nov 1994 08:49:37 GMT');

it.each([
  [{}, undefined],
  [{ 'retry-after': '1.5' }, 1_500],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': 'Sun, 06 Nov 1994 08:49:40 GMT' }, 3_000],
  [{ 'retry-after': 'Sun, 06 Nov 1994 08:49:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '' }, undefined],
  [{ 'retry-after-ms': '20', 'retry-after': '1' }, 20],
  [{ 'retry-after-ms': 'x', 'retry-after': '1' }, 1_000],
])('parses the retry delay of %j', (headers: Record<string, string>, expected) => {
  expect(parseRetryAfter((name) => headers[name] ?? null, NOW)).toBe(expected);
});
