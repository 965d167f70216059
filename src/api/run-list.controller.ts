import { Controller, Get, Query } from '@nestjs/common';
import { RunHistoryService } from '../agent/index.js';
import type { Principal } from '../kernel/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { placeIn } from './list-cursor.js';
import { RunListQueryDto, RunPageDto } from './run-list.dto.js';
import { toRunFilter, toRunPage } from './run-list.mapper.js';

@Requires('runs:read')
@Controller('runs')
export class RunListController {
  constructor(private readonly history: RunHistoryService) {}

  /** The runs that the caller may see, newest first, filtered by status, agent, session and time. */
  @Get()
  async list(@CurrentPrincipal() principal: Principal, @Query() query: RunListQueryDto): Promise<RunPageDto> {
    const { limit = 50, cursor } = query;
    const after = placeIn(cursor);
    const filter = { ...toRunFilter(query), limit, ...(after !== undefined && { after }) };
    return toRunPage(await this.history.list(principal, filter));
  }
}
