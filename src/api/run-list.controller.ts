import { Controller, Get, Query } from '@nestjs/common';
import { RunSearchService } from '../agent/history/index.js';
import { DAY_MS, type Principal } from '../kernel/index.js';
import type { RunStatus } from '../run/index.js';
import type { RunFilter, RunPage } from '../run/query/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { placeIn, toCursor } from './list-cursor.js';
import { toListedRun } from './listed-run.mapper.js';
import { RunCountsDto, RunCountsQueryDto, RunListQueryDto, RunPageDto } from './run-list.dto.js';
import { toTimeRange } from './time-range-query.dto.js';

/** @param query validated */
function toRunFilter({ status, agent, kind, sessionId, errorCode, ...range }: RunListQueryDto): RunFilter {
  return {
    ...(status !== undefined && { statuses: status.split(',') as RunStatus[] }),
    ...(agent !== undefined && { agent }),
    ...(kind !== undefined && { kind }),
    ...(sessionId !== undefined && { sessionId }),
    ...(errorCode !== undefined && { errorCode }),
    ...toTimeRange(range),
  };
}

function toRunPage({ runs, next }: RunPage): RunPageDto {
  return { runs: runs.map(toListedRun), next: toCursor('runs', next) };
}

@Requires('runs:read')
@Controller('runs')
export class RunListController {
  constructor(private readonly runs: RunSearchService) {}

  /**
   * Numbers of the runs that the caller may see, by status, and of failed runs by error code. Runs that have not ended are
   * counted at any age, ended runs by the time of their creation.
   */
  @Get('counts')
  async counts(@CurrentPrincipal() principal: Principal, @Query() query: RunCountsQueryDto): Promise<RunCountsDto> {
    const { from = Date.now() - DAY_MS, to } = toTimeRange(query);
    const { agent, kind } = query;
    const filter = { ...(agent !== undefined && { agent }), ...(kind !== undefined && { kind }) };
    const counts = await this.runs.counts(principal, { ...filter, from, ...(to !== undefined && { to }) });
    return {
      from,
      by_status: counts.byStatus,
      failed: counts.failed.map(({ code, count }) => ({ error_code: code, count })),
      is_complete: counts.isComplete,
    };
  }

  /**
   * The runs that the caller may see, newest first, filtered by status, kind, agent, session, error code, time and text. With
   * `text` one request searches the newest 10,000 runs that match the other filters; `next` continues.
   */
  @Get()
  async list(@CurrentPrincipal() principal: Principal, @Query() query: RunListQueryDto): Promise<RunPageDto> {
    const { limit = 50, cursor } = query;
    const after = placeIn(cursor);
    const filter = { ...toRunFilter(query), limit, ...(after !== undefined && { after }) };
    if (query.text === undefined) return toRunPage(await this.runs.list(principal, filter));
    const page = await this.runs.search(principal, { ...filter, text: query.text });
    return Object.assign(toRunPage(page), { searched_to: page.searchedTo, is_search_complete: page.next === null });
  }
}
