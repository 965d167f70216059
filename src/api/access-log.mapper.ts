import type { AccessEntry, AccessFilter } from '../security/index.js';
import type { AccessLogQueryDto, AccessPageDto } from './access-log.dto.js';
import { cursorOf, placeOf } from './time-cursor.mapper.js';
import { toTimeRange } from './time-range-query.dto.js';

/** @param query validated */
export function toAccessFilter({ principal, targetKind, targetId, ...range }: AccessLogQueryDto): AccessFilter {
  return {
    ...(principal !== undefined && { principal }),
    ...(targetKind !== undefined && { targetKind }),
    ...(targetId !== undefined && { targetId }),
    ...toTimeRange(range),
  };
}

/** @throws AppError `VALIDATION_FAILED` for an invalid cursor */
export function toAccessPlace(cursor: string | undefined): Pick<AccessEntry, 'at' | 'id'> | undefined {
  return placeOf(cursor);
}

/** @param entries up to `limit + 1` entries: one more than `limit`, the page size, if there is a next page */
export function toAccessPage(entries: readonly AccessEntry[], limit: number): AccessPageDto {
  const page = entries.slice(0, limit);
  const last = page.at(-1);
  return {
    entries: page.map(({ at, principal, action, targetKind, targetId }) => ({
      at,
      principal,
      action,
      target_kind: targetKind,
      target_id: targetId,
    })),
    next: entries.length > limit && last ? cursorOf(last) : null,
  };
}
