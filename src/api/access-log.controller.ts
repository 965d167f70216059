import { Controller, Get, Query } from '@nestjs/common';
import type { Principal } from '../kernel/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { type AccessEntry, type AccessFilter, AccessLogService } from '../security/access-log/index.js';
import { AccessLogQueryDto, AccessPageDto } from './access-log.dto.js';
import { timePlaceIn, toCursor } from './list-cursor.js';
import { toTimeRange } from './time-range-query.dto.js';

/** @param query validated */
function toAccessFilter({ principal, targetKind, targetId, ...range }: AccessLogQueryDto): AccessFilter {
  return {
    ...(principal !== undefined && { principal }),
    ...(targetKind !== undefined && { targetKind }),
    ...(targetId !== undefined && { targetId }),
    ...toTimeRange(range),
  };
}

/** @param entries up to `limit + 1` entries: one more than `limit`, the page size, if there is a next page */
function toAccessPage(entries: readonly AccessEntry[], limit: number): AccessPageDto {
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

@Requires('audit')
@Controller('access-log')
export class AccessLogController {
  constructor(private readonly access: AccessLogService) {}

  /**
   * Access log of the tenant (reads, exports, forks, erasures and the like), newest first; empty while `ACCESS_LOG` is
   * off.
   */
  @Get()
  async list(@CurrentPrincipal() principal: Principal, @Query() query: AccessLogQueryDto): Promise<AccessPageDto> {
    const limit = query.limit ?? 50;
    const before = timePlaceIn(query.cursor);
    return toAccessPage(await this.access.list(principal, toAccessFilter(query), limit + 1, before), limit);
  }
}
