import { expect, it } from 'vitest';
import { dayOf } from './clock.js';

it('returns the UTC day of a time, independent of earlier calls', () => {
  const midnight = Date.UTC(2027, 1, 1);
  const times = [midnight - 1, midnight, midnight - 1, midnight + 86_399_999, midnight + 86_400_000, 0, -1];
  const days = ['2027-01-31', '2027-02-01', '2027-01-31', '2027-02-01', '2027-02-02', '1970-01-01', '1969-12-31'];
  expect(times.map(dayOf)).toEqual(days);
});
