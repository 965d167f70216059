import type { UsageEntry, UsageFilter, UsagePage, UsageSum } from '../run/index.js';
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

export function toUsagePage(total: UsageSum, { entries, next }: UsagePage): UsagePageDto {
  return { total, entries: entries.map(toEntry), next };
}

function toEntry({ key, calls, usage }: UsageEntry): UsagePageDto['entries'][number] {
  return { key: key === '' ? null : key, calls, usage };
}
