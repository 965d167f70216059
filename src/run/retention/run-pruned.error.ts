import { AppError } from '../../errors/index.js';
import { parseRunSummary } from '../run-record.mapper.js';
import type { RunRecord } from '../run.types.js';

/** The error of a pruned run, with its remaining data. Times are epoch ms. */
export function runPruned(run: RunRecord): AppError {
  const { id, status, agent, sessionId, createdAt, finishedAt, prunedAt, forkedFrom } = run;
  return new AppError(
    'RUN_PRUNED',
    `The journal of run "${id}" was deleted, as the run is old; only "summary" remains.`,
    {
      details: {
        run_id: id,
        summary: {
          status,
          agent,
          session_id: sessionId,
          created_at: createdAt,
          finished_at: finishedAt,
          pruned_at: prunedAt,
          forked_from: forkedFrom,
          ...parseRunSummary(run.summary),
        },
      },
    },
  );
}
