import { hash } from 'node:crypto';
import { AppError } from '../errors/index.js';
import type { Principal } from '../kernel/index.js';
import { parseExactJson } from '../kernel/json/index.js';
import { Cipher, type RowPlace, type SealedTable } from '../security/encryption/index.js';
import type { RunResult, TerminalEvent } from './event/run-event.types.js';
import type { RecordedStep, RunHead, RunRecord, RunStatus } from './run.types.js';
import type { RunLineage } from './tree/child-run.types.js';

/** The encrypted columns of `run`. */
export type SealedRunColumn = 'principal' | 'input' | 'preview' | 'summary';

export function runPlace(tenant: string, runId: string, column: SealedRunColumn): RowPlace {
  return { tenant, column: `run.${column}`, owner: runId, row: '' };
}

export function stepPlace(tenant: string, runId: string, name: string): RowPlace {
  return { tenant, column: 'run_step.result', owner: runId, row: name };
}

export function eventPlace(tenant: string, runId: string, n: number): RowPlace {
  return { tenant, column: 'run_event.data', owner: runId, row: n };
}

/** Encrypted, as a definition may contain instructions of a request. */
export function definitionPlace(tenant: string, contentHash: string): RowPlace {
  return { tenant, column: 'run_definition.content', owner: contentHash, row: '' };
}

/** The encrypted columns of `eval_report`. */
export type SealedEvalColumn = 'figures' | 'results';

export function evalPlace(tenant: string, id: string, column: SealedEvalColumn): RowPlace {
  return { tenant, column: `eval_report.${column}`, owner: id, row: '' };
}

const evalColumn = (name: SealedEvalColumn) => ({
  name,
  place: ({ tenant, id }: Readonly<Record<string, unknown>>) => evalPlace(tenant as string, id as string, name),
});

const runColumn = (name: SealedRunColumn) => ({
  name,
  place: ({ tenant, id }: Readonly<Record<string, unknown>>) => runPlace(tenant as string, id as string, name),
});

/** All encrypted columns of runs. */
export const RUN_SEALED_TABLES: readonly SealedTable[] = [
  {
    name: 'run',
    key: ['id'],
    also: ['tenant'],
    columns: [runColumn('principal'), runColumn('input'), runColumn('preview'), runColumn('summary')],
  },
  { name: 'eval_report', key: ['id'], also: ['tenant'], columns: [evalColumn('figures'), evalColumn('results')] },
  {
    name: 'run_step',
    key: ['run_id', 'name'],
    also: ['tenant'],
    columns: [
      {
        name: 'result',
        place: (row) => stepPlace(row['tenant'] as string, row['run_id'] as string, row['name'] as string),
      },
    ],
  },
  {
    name: 'run_event',
    key: ['run_id', 'n'],
    also: ['tenant'],
    columns: [
      {
        name: 'data',
        place: (row) => eventPlace(row['tenant'] as string, row['run_id'] as string, row['n'] as number),
      },
    ],
  },
  {
    name: 'run_definition',
    key: ['tenant', 'hash'],
    columns: [{ name: 'content', place: (row) => definitionPlace(row['tenant'] as string, row['hash'] as string) }],
  },
];

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

/** The end of a run, retained when its journal is pruned; wire form. */
export interface RunSummary extends Omit<RunResult, 'result'> {
  /** The error of a failed run. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** The end of a run, as its row stores it. */
export interface StoredEnd {
  /** Sealed text; `null` if it is unknown. */
  readonly summary: string | null;
  /** The error code of a failed run. */
  readonly errorCode: string | null;
}

/** The end of a run without its text, encrypted for storage. */
export function toStoredEnd(
  { tenant, id }: Pick<RunRecord, 'tenant' | 'id'>,
  event: TerminalEvent,
  cipher: Cipher,
): StoredEnd {
  return {
    summary: cipher.seal(toRunSummary(event), runPlace(tenant, id, 'summary')),
    errorCode: event.type === 'run.failed' ? event.error.code : null,
  };
}

/** As JSON text. */
function toRunSummary(event: TerminalEvent): string {
  const { finish_reason, is_complete, iterations, usage, model } = event;
  const summary: RunSummary = {
    finish_reason,
    is_complete,
    iterations,
    usage,
    model,
    ...(event.type === 'run.failed' && { error: { code: event.error.code, message: event.error.message } }),
  };
  return JSON.stringify(summary);
}

/** @param text output of `toRunSummary`; `null` for an unfinished run and for runs from before summaries existed */
export function parseRunSummary(text: string | null): RunSummary | null {
  return text === null ? null : (parseExactJson(text) as RunSummary);
}

type RunKey = Pick<RunRecord, 'id' | 'tenant'>;

const MAX_SUBJECT_LENGTH = 256;

/**
 * Shortens and cleans a subject, which may be a name that a model made up, to text that every database stores
 * unchanged.
 */
export function toSubject(about: string): string {
  return about.slice(0, MAX_SUBJECT_LENGTH).toWellFormed().replaceAll('\0', '\ufffd');
}

/** SHA-256 (base64url) of the JSON of a request's body. */
export function toRequestHash(json: string): string {
  return hash('sha256', json, 'base64url');
}

/** A step's result as JSON text. */
export function toJson(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

/**
 * The result of a recorded step.
 * @throws AppError `STEP_CONFLICT` when it was recorded with another subject, `STORED_DATA_INVALID` when its row is damaged
 */
export function replayStep({ id: runId, tenant }: RunKey, recorded: RecordedStep, subject: string): unknown {
  if (recorded.subject === subject) return Cipher.parse(recorded.result, stepPlace(tenant, runId, recorded.name));
  throw new AppError(
    'STEP_CONFLICT',
    `Run ${runId} recorded step "${recorded.name}" with subject "${recorded.subject}", but the loop now requests it with subject "${subject}": this is not the loop that recorded it.`,
  );
}
