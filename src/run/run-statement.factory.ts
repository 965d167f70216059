import { insert, type Statement } from '../persistence/index.js';
import type { RunItem } from './run-item.factory.js';
import type { RecordedStep, RunRecord, RunStatus } from './run.types.js';

type RunKey = Pick<RunRecord, 'id' | 'tenant' | 'epoch'>;

/** The value of the unique column by which a run holds its session; ids never contain a line break. */
export function sessionSlot(run: Pick<RunRecord, 'tenant' | 'sessionId'>): string | null {
  return run.sessionId === null ? null : `${run.tenant}\n${run.sessionId}`;
}

export function insertRun(run: RunRecord): Statement {
  return insert('run', {
    id: run.id,
    tenant: run.tenant,
    principal: JSON.stringify(run.principal),
    kind: run.kind,
    agent: run.agent,
    session_id: run.sessionId,
    session_slot: run.status === 'running' ? sessionSlot(run) : null,
    status: run.status,
    epoch: run.epoch,
    attempts: run.attempts,
    loop_version: run.loopVersion,
    definition_hash: run.definitionHash,
    input: run.input,
    timeout_ms: run.timeoutMs,
    cancel_requested_at: null,
    created_at: run.createdAt,
    finished_at: null,
  });
}

export function insertStep(run: RunKey, step: RecordedStep, at: number): Statement {
  return insert('run_step', {
    run_id: run.id,
    name: step.name,
    tenant: run.tenant,
    kind: step.kind,
    subject: step.subject,
    result: step.result,
    epoch: run.epoch,
    created_at: at,
  });
}

export function insertEvent(run: RunKey, item: RunItem): Statement {
  return insert('run_event', {
    run_id: run.id,
    n: item.n,
    tenant: run.tenant,
    type: item.event.type,
    data: item.data,
    created_at: item.at,
  });
}

/**
 * "The epoch is still mine": the first statement of every batch of a running run.
 * @param isProgress whether the batch records a step, which forgives the crashes before it
 */
export function fence(run: RunKey, isProgress = false): Statement {
  const attempts = isProgress ? '0' : 'attempts';
  return {
    sql: `UPDATE run SET attempts = ${attempts} WHERE id = ? AND epoch = ? AND status = 'running'`,
    params: [run.id, run.epoch],
    rows: 1,
  };
}

/** Takes the run over: the next epoch, and its session's slot if it has a session. */
export function claimRun(run: RunRecord, crashed: boolean): Statement {
  return {
    sql: `UPDATE run SET status = 'running', epoch = epoch + 1, attempts = attempts + ?, session_slot = ?
      WHERE id = ? AND epoch = ? AND status IN ('queued', 'running')`,
    params: [crashed ? 1 : 0, sessionSlot(run), run.id, run.epoch],
    rows: 1,
  };
}

/** Leaves `running` without an end: to `waiting` or back to `queued`; the session stays held. */
export function leaveRun(run: RunKey, status: 'waiting' | 'queued'): Statement {
  return {
    sql: `UPDATE run SET status = ?, attempts = 0 WHERE id = ? AND epoch = ? AND status = 'running'`,
    params: [status, run.id, run.epoch],
    rows: 1,
  };
}

/** Ends the run and frees its session; conditional on the status that the caller saw and on the epoch. */
export function endRun(run: RunKey, from: 'running' | 'queued', to: RunStatus, at: number): Statement {
  return {
    sql: `UPDATE run SET status = ?, session_slot = NULL, finished_at = ? WHERE id = ? AND epoch = ? AND status = ?`,
    params: [to, at, run.id, run.epoch, from],
    rows: 1,
  };
}
