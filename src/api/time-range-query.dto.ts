import { IsTime, toEpochMs } from './is-time.decorator.js';
import { Omittable } from './omittable.decorator.js';
import { IsWholeNumber } from './is-whole-number.decorator.js';

/** Two times. */
export class TimesQueryDto {
  /**
   * Start of the range, inclusive: epoch ms, or ISO 8601 with a time zone; a date alone is its midnight, UTC.
   * @example '2026-01-31'
   */
  @Omittable()
  @IsTime()
  from?: string;

  /** End of the range, exclusive. */
  @Omittable()
  @IsTime()
  to?: string;
}

/** A page of entries between two times. */
export class TimeRangeQueryDto extends TimesQueryDto {
  /** Maximum number of entries in the page. */
  @Omittable()
  @IsWholeNumber(1, 200)
  limit?: number = 50;
}

/** The times of a validated query, in epoch ms. */
export function toTimeRange({ from, to }: TimesQueryDto): { readonly from?: number; readonly to?: number } {
  return {
    ...(from !== undefined && { from: toEpochMs(from) ?? 0 }),
    ...(to !== undefined && { to: toEpochMs(to) ?? 0 }),
  };
}
