import { Controller, Get, Query } from '@nestjs/common';
import { RunHistoryService } from '../agent/index.js';
import type { Principal } from '../kernel/index.js';
import { queuedState, type ListedRun, type RunFilter, type RunPage, type RunStatus } from '../run/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { placeIn, toCursor } from './list-cursor.js';
import { type ListedRunDto, RunListQueryDto, RunPageDto } from './run-list.dto.js';
import { toTimeRange } from './time-range-query.dto.js';

/** @param query validated */
function toRunFilter({ status, agent, sessionId, ...range }: RunListQueryDto): RunFilter {
  return {
    ...(status !== undefined && { statuses: status.split(',') as RunStatus[] }),
    ...(agent !== undefined && { agent }),
    ...(sessionId !== undefined && { sessionId }),
    ...toTimeRange(range),
  };
}

function toRunPage({ runs, next }: RunPage): RunPageDto {
  return { runs: runs.map(toListedRun), next: toCursor('runs', next) };
}

function toListedRun(run: ListedRun): ListedRunDto {
  return {
    run_id: run.id,
    status: run.status,
    agent: run.agent,
    session_id: run.sessionId,
    created_at: run.createdAt,
    finished_at: run.finishedAt,
    forked_from: run.forkedFrom,
    parent_run_id: run.parentRunId,
    pruned_at: run.prunedAt,
    finish_reason: run.summary?.finish_reason ?? null,
    usage: run.summary?.usage ?? null,
    ...queuedState(run),
    ...(run.isDamaged && { is_damaged: run.isDamaged }),
  };
}

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
