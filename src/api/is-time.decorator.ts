import { ValidateBy } from 'class-validator';

const EPOCH_MS = /^\d{1,15}$/;
const DAY = /^\d{4}-\d\d-\d\d$/;
const ISO_8601 = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/;

/**
 * Converts epoch ms, or ISO 8601 with a time zone, to epoch ms. A date alone is its midnight, UTC. `null` for other
 * texts.
 */
export function toEpochMs(text: string): number | null {
  if (EPOCH_MS.test(text)) return Number(text);
  const ms = ISO_8601.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : NaN;
  return Number.isNaN(ms) ? null : ms;
}

/** Whether a text is an existing day, such as `2026-02-28`. `Date.parse` reads 2026-02-30 as March 2. */
function isDay(text: string): boolean {
  const ms = DAY.test(text) ? Date.parse(text) : NaN;
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

/** An existing day, such as `2026-02-28`. */
export const IsDay = () =>
  ValidateBy({
    name: 'isDay',
    validator: {
      validate: (value) => typeof value === 'string' && isDay(value),
      defaultMessage: () => '$property must be a day such as 2027-01-31',
    },
  });

/** A text that `toEpochMs` accepts. */
export const IsTime = () =>
  ValidateBy({
    name: 'isTime',
    validator: {
      validate: (value) => typeof value === 'string' && toEpochMs(value) !== null,
      defaultMessage: () => '$property must be epoch ms, or an ISO 8601 date or time with a time zone',
    },
  });
