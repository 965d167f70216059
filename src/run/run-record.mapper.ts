import type { Principal } from '../kernel/index.js';
import type { RunLineage } from './tree/child-run.types.js';
import { Cipher } from '../security/index.js';
import { definitionPlace, runPlace } from './row-place.factory.js';
import type { RunHead, RunRecord, RunStatus } from './run.types.js';

/** Selects `RunRow`s. */
export const SELECT_RUN = `SELECT run.*, run_definition.content AS definition, root.session_id AS root_session_id FROM run
  JOIN run_definition ON run_definition.tenant = run.tenant AND run_definition.hash = run.definition_hash
  LEFT JOIN run root ON root.id = run.root_run_id`;

/** A row of `run` with its definition's content. */
export interface RunRow {
  readonly id: string;
  readonly tenant: string;
  readonly principal: string;
  readonly kind: string;
  readonly agent: string;
  readonly session_id: string | null;
  readonly status: RunStatus;
  readonly epoch: number;
  readonly owner: string | null;
  readonly attempts: number;
  readonly suspicions: number;
  readonly recovered_at: number | null;
  readonly loop_version: number;
  readonly definition_hash: string;
  readonly definition: string;
  readonly input: string;
  readonly timeout_ms: number;
  readonly cancel_requested_at: number | null;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly priority: number;
  readonly deadline_at: number | null;
  readonly forked_from: string | null;
  readonly parent_run_id: string | null;
  readonly parent_step: string | null;
  readonly root_run_id: string | null;
  /** The session of that run. */
  readonly root_session_id: string | null;
  readonly depth: number;
  readonly is_patient: number;
  readonly not_before: number | null;
  readonly outage_since: number | null;
  readonly outage_code: string | null;
  readonly traceparent: string | null;
  readonly pruned_at: number | null;
  readonly summary: string | null;
}

/** @throws AppError `STORED_DATA_INVALID` if a stored text of the run is no JSON */
export function assertReadable({ id, tenant, input, definition, definitionHash }: RunRecord): void {
  Cipher.parse(input, runPlace(tenant, id, 'input'));
  Cipher.parse(definition, definitionPlace(tenant, definitionHash));
}

/** @throws AppError `DATA_TAMPERED`, `STORED_DATA_INVALID`, `ENCRYPTION_KEY_UNKNOWN` */
export function toRunRecord(row: RunRow, cipher: Cipher): RunRecord {
  const { tenant, id, input, summary } = row;
  return {
    id: row.id,
    tenant: row.tenant,
    principal: cipher.openJson(row.principal, runPlace(tenant, id, 'principal')) as Principal,
    kind: row.kind,
    agent: row.agent,
    sessionId: row.session_id,
    status: row.status,
    epoch: row.epoch,
    owner: row.owner,
    attempts: row.attempts,
    suspicions: row.suspicions,
    recoveredAt: row.recovered_at,
    loopVersion: row.loop_version,
    definitionHash: row.definition_hash,
    definition: cipher.open(row.definition, definitionPlace(tenant, row.definition_hash)),
    // A pruned run has no input left.
    input: row.pruned_at === null ? cipher.open(input, runPlace(tenant, id, 'input')) : input,
    timeoutMs: row.timeout_ms,
    cancelRequestedAt: row.cancel_requested_at,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    priority: row.priority,
    deadlineAt: row.deadline_at,
    forkedFrom: row.forked_from,
    lineage: toLineage(row),
    isPatient: row.is_patient === 1,
    notBefore: row.not_before,
    outageSince: row.outage_since,
    outageCode: row.outage_code,
    traceparent: row.traceparent,
    prunedAt: row.pruned_at,
    summary: summary === null ? null : cipher.open(summary, runPlace(tenant, id, 'summary')),
  };
}

function toLineage(row: RunRow): RunLineage | null {
  const { parent_run_id, parent_step, root_run_id, root_session_id, depth } = row;
  if (parent_run_id === null || parent_step === null || root_run_id === null) return null;
  return {
    parentRunId: parent_run_id,
    parentStep: parent_step,
    rootRunId: root_run_id,
    rootSessionId: root_session_id,
    depth,
  };
}

/** Whether a run in this status may still change. */
export function isOpen(status: RunStatus): boolean {
  return status === 'queued' || status === 'running' || status === 'waiting';
}

/** A run that waits, without the memory for its input. */
export function withoutInput({ input: _input, ...run }: RunHead & Partial<RunRecord>): RunHead {
  return run;
}
