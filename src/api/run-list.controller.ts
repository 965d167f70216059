import { Controller, Get, Query } from '@nestjs/common';
import type { Principal } from '../kernel/index.js';
import { RunListStore } from '../run/index.js';
import { AccessLogService, CurrentPrincipal, Requires } from '../security/index.js';
import { placeIn } from './list-cursor.js';
import { RunListQueryDto, RunPageDto } from './run-list.dto.js';
import { toRunFilter, toRunPage } from './run-list.mapper.js';

@Requires('runs:read')
@Controller('runs')
export class RunListController {
  constructor(
    private readonly runs: RunListStore,
    private readonly access: AccessLogService,
  ) {}

  /** The runs that the caller may see, newest first, filtered by status, agent, session and time. */
  @Get()
  async list(@CurrentPrincipal() principal: Principal, @Query() query: RunListQueryDto): Promise<RunPageDto> {
    const page = await this.runs.list(principal, toRunFilter(query), query.limit ?? 50, placeIn(query.cursor));
    this.access.record(principal, 'read', 'runs', '');
    return toRunPage(page);
  }
}
