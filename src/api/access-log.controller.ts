import { Controller, Get, Query } from '@nestjs/common';
import type { Principal } from '../kernel/index.js';
import { AccessLogService, CurrentPrincipal, Requires } from '../security/index.js';
import { AccessLogQueryDto, AccessPageDto } from './access-log.dto.js';
import { toAccessFilter, toAccessPage } from './access-log.mapper.js';
import { timePlaceIn } from './list-cursor.js';

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
