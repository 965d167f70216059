import { AppError } from '../errors/index.js';
import { fieldMistake } from '../kernel/index.js';
import type { UsageEntry, UsageFilter, UsageKind, UsagePage, UsageSum } from '../run/index.js';
import { placeIn, toCursor } from './list-cursor.js';
import type { UsageDaysQueryDto, UsagePageDto, UsageQueryDto } from './usage.dto.js';

/** @param query validated */
export function toUsageFilter({
  from,
  to,
  sessionId,
}: UsageDaysQueryDto & Pick<UsageQueryDto, 'sessionId'>): UsageFilter {
  return {
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(sessionId !== undefined && { sessionId }),
  };
}

export function toUsagePage(total: UsageSum, { entries, next }: UsagePage, kind: UsageKind): UsagePageDto {
  return { total, entries: entries.map(toEntry), next: toCursor('usage', next === null ? null : `${kind}:${next}`) };
}

/** @throws AppError `VALIDATION_FAILED` for the cursor of a page with another grouping */
export function toUsagePlace(cursor: string | undefined, kind: UsageKind): string | undefined {
  const place = placeIn(cursor);
  if (place === undefined || place.startsWith(`${kind}:`)) return place?.slice(kind.length + 1);
  const message = `cursor must be the "next" of a page by ${kind}`;
  throw new AppError('VALIDATION_FAILED', `The request is not valid: ${message}.`, {
    details: { errors: [fieldMistake('cursor', message, 'isCursor', cursor)] },
  });
}

function toEntry({ key, calls, usage }: UsageEntry): UsagePageDto['entries'][number] {
  return { key: key === '' ? null : key, calls, usage };
}
