import type { AccessEntry, AccessFilter } from '../security/index.js';
import type { AccessLogQueryDto, AccessPageDto } from './access-log.dto.js';
import { toCursor } from './list-cursor.js';
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
    next: toCursor('access', entries.length > limit && last ? `${last.at}.${last.id}` : null),
  };
}
