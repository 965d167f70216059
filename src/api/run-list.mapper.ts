import type { ListedRun, RunFilter, RunPage, RunStatus } from '../run/index.js';
import { toCursor } from './list-cursor.js';
import type { ListedRunDto, RunListQueryDto, RunPageDto } from './run-list.dto.js';
import { toTimeRange } from './time-range-query.dto.js';

/** @param query validated */
export function toRunFilter({ status, agent, sessionId, ...range }: RunListQueryDto): RunFilter {
  return {
    ...(status !== undefined && { statuses: status.split(',') as RunStatus[] }),
    ...(agent !== undefined && { agent }),
    ...(sessionId !== undefined && { sessionId }),
    ...toTimeRange(range),
  };
}

export function toRunPage({ runs, next }: RunPage): RunPageDto {
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
  };
}
