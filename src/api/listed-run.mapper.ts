import { queuedState } from '../run/context/index.js';
import type { ListedRun } from '../run/query/index.js';
import type { ListedRunDto } from './run-list.dto.js';

export function toListedRun(run: ListedRun): ListedRunDto {
  return {
    run_id: run.id,
    kind: run.kind,
    status: run.status,
    agent: run.agent,
    session_id: run.sessionId,
    created_at: run.createdAt,
    finished_at: run.finishedAt,
    forked_from: run.forkedFrom,
    parent_run_id: run.parentRunId,
    pruned_at: run.prunedAt,
    ...endOf(run),
    query_preview: run.preview,
    pending: run.pending ?? 0,
    ...queuedState(run),
    ...(run.isDamaged && { is_damaged: run.isDamaged }),
  };
}

function endOf({ summary, error }: ListedRun) {
  return {
    finish_reason: summary?.finish_reason ?? null,
    usage: summary?.usage ?? null,
    error_code: error?.code ?? null,
    ...(error?.message !== undefined && { error_message: error.message }),
  };
}
