import { insert, insertMany, type Row, type Statement } from '../persistence/statement/index.js';
import type { Cipher } from '../security/encryption/index.js';
import { currentTraceParent } from '../telemetry/index.js';
import { eventPlace, runPlace, stepPlace, type StoredEnd } from './run-record.mapper.js';
import { RunItem } from './event/run-item.factory.js';
import type { Postponement } from './context/execution-end.js';
import type { RecordedStep, RunRecord, RunStatus, StartRun } from './run.types.js';
import { enqueueWebhooks } from './event/webhook-statement.factory.js';

/** Length of a preview, in UTF-16 units. */
const PREVIEW_LENGTH = 200;

/** A run, and the events of its start. */
export interface NewRun {
  readonly run: RunRecord;
  readonly items: readonly RunItem[];
}

const NONE = () => [];

/** @param node id of the application that starts the run, and that executes it outside of a cluster */
export function createRun(
  start: StartRun,
  status: 'running' | 'queued',
  node: string | null,
  now: number,
  missing: (run: RunRecord) => readonly string[] = NONE,
): NewRun {
  const run = toRecord(start, status, node, now);
  return { run, items: run.epoch > 0 ? [startedItem(run, now, missing(run))] : [] };
}

/** The fields of a run that its start publishes. */
type StartedRun = Pick<RunRecord, 'id' | 'sessionId' | 'agent'> & {
  readonly lineage: { readonly parentRunId: string } | null;
};

/** @param missing names of the MCP servers whose tools are missing */
export function startedItem(run: StartedRun, now: number, missing: readonly string[]): RunItem {
  const { id: run_id, sessionId: session_id, agent, lineage } = run;
  const parent = lineage && { parent_run_id: lineage.parentRunId };
  const without = missing.length > 0 && { missing_mcp_servers: missing };
  return new RunItem(1, now, { type: 'run.started', run_id, session_id, agent, ...parent, ...without });
}

function toRecord(start: StartRun, status: 'running' | 'queued', node: string | null, now: number): RunRecord {
  const { statements: _s, check: _c, idempotency: _i, wait: _w, ...record } = start;
  const { isFirstOfSession: _f, isPublishedWhole: _t, isEarly: _e, question: _q, ...rest } = record;
  const isStarted = status === 'running' || start.forkedFrom !== undefined;
  return {
    ...rest,
    tenant: start.principal.tenant,
    status,
    epoch: isStarted ? 1 : 0,
    owner: node,
    attempts: 0,
    suspicions: 0,
    recoveredAt: null,
    cancelRequestedAt: null,
    createdAt: now,
    finishedAt: null,
    priority: start.priority ?? 0,
    deadlineAt: start.deadlineAt ?? null,
    forkedFrom: start.forkedFrom ?? null,
    lineage: start.lineage ?? null,
    isPatient: start.isPatient ?? false,
    notBefore: null,
    outageSince: null,
    outageCode: null,
    traceparent: start.traceparent === undefined ? (currentTraceParent() ?? null) : start.traceparent,
    prunedAt: null,
    summary: null,
  };
}

const FENCE = `UPDATE run SET attempts = attempts WHERE id = ? AND epoch = ? AND status = 'running'`;
const FENCE_OF_PROGRESS = `UPDATE run SET attempts = 0, suspicions = 0, outage_since = NULL WHERE id = ? AND epoch = ? AND status = 'running'`;

type RunKey = Pick<RunRecord, 'id' | 'tenant' | 'epoch'>;

/** The value of the unique column by which a run holds its session; ids never contain a line break. */
export function sessionSlot(run: Pick<RunRecord, 'tenant' | 'sessionId'>): string | null {
  return run.sessionId === null ? null : `${run.tenant}\n${run.sessionId}`;
}

/** A WHERE condition: the session has no unfinished run. */
export function sessionIsFree(tenant: string, sessionId: string): { readonly sql: string; readonly params: string[] } {
  return {
    sql: 'NOT EXISTS (SELECT 1 FROM run WHERE tenant = ? AND session_id = ? AND finished_at IS NULL)',
    params: [tenant, sessionId],
  };
}

/** @param question whose start lists show; `null` if it is unknown */
export function insertRun(run: RunRecord, cipher: Cipher, question: string | null = null): Statement {
  const statement = insert('run', {
    id: run.id,
    tenant: run.tenant,
    principal: cipher.seal(JSON.stringify(run.principal), runPlace(run.tenant, run.id, 'principal')),
    principal_id: run.principal.id,
    kind: run.kind,
    agent: run.agent,
    session_id: run.sessionId,
    session_slot: run.status === 'running' ? sessionSlot(run) : null,
    status: run.status,
    epoch: run.epoch,
    owner: run.owner,
    attempts: run.attempts,
    loop_version: run.loopVersion,
    definition_hash: run.definitionHash,
    input: cipher.seal(run.input, runPlace(run.tenant, run.id, 'input')),
    preview: question === null ? null : sealPreview(run, question, cipher),
    timeout_ms: run.timeoutMs,
    cancel_requested_at: null,
    created_at: run.createdAt,
    finished_at: null,
    priority: run.priority,
    deadline_at: run.deadlineAt,
    // The expiry of a queued run.
    expires_at: run.deadlineAt,
    is_patient: Number(run.isPatient),
    forked_from: run.forkedFrom,
    changed_at: run.createdAt,
    traceparent: run.traceparent,
    ...lineageOf(run),
  });
  return { ...statement, changedRun: run.id };
}

function sealPreview({ tenant, id }: RunRecord, question: string, cipher: Cipher): string {
  return cipher.seal(JSON.stringify(toPreview(question)), runPlace(tenant, id, 'preview'));
}

function lineageOf({ lineage }: RunRecord) {
  return {
    parent_run_id: lineage?.parentRunId ?? null,
    parent_step: lineage?.parentStep ?? null,
    root_run_id: lineage?.rootRunId ?? null,
    depth: lineage?.depth ?? 0,
  };
}

export function insertStep(run: RunKey, step: RecordedStep, at: number, cipher: Cipher): Statement {
  return insert('run_step', {
    run_id: run.id,
    name: step.name,
    tenant: run.tenant,
    kind: step.kind,
    subject: step.subject,
    result: cipher.seal(step.result, stepPlace(run.tenant, run.id, step.name)),
    epoch: run.epoch,
    created_at: at,
    started_at: step.startedAt ?? null,
    first_token_ms: step.firstTokenMs ?? null,
    attempts: step.attempts ?? null,
    request_hash: step.requestHash ?? null,
  });
}

/** Stores events, and enqueues their deliveries to webhooks. @param items journaled items only */
export function insertEvents(run: RunKey, items: readonly RunItem[], cipher: Cipher): Statement[] {
  const rows = items.map((item) => eventRow(run, item, cipher));
  return [...insertMany('run_event', rows), ...enqueueWebhooks(run.id, items)];
}

function eventRow(run: RunKey, item: RunItem, cipher: Cipher): Row {
  return {
    run_id: run.id,
    n: item.n,
    tenant: run.tenant,
    type: item.event.type,
    data: cipher.seal(item.data, eventPlace(run.tenant, run.id, item.place.n)),
    created_at: item.at,
  };
}

/**
 * Checks that this process still owns the epoch: the first statement of every batch of a running run.
 * @param isProgress true if the batch records a step, which resets the crash count
 */
export function fence(run: RunKey, isProgress = false): Statement {
  return { sql: isProgress ? FENCE_OF_PROGRESS : FENCE, params: [run.id, run.epoch], rows: 1 };
}

/**
 * Claims the run: raises the epoch, and occupies the slot of its session, if any. A run that is still running has crashed.
 * @param now epoch ms
 */
export function claimRun(run: RunRecord, now: number, node: string | null): Statement {
  const hasCrashed = run.status === 'running';
  const recoveredAt = hasCrashed || run.suspicions > 0 ? now : run.recoveredAt;
  return {
    sql: `UPDATE run SET status = 'running', epoch = epoch + 1, attempts = attempts + ?, session_slot = ?, owner = ?,
        not_before = NULL, recovered_at = ?, changed_at = ?
      WHERE id = ? AND epoch = ? AND status IN ('queued', 'running')`,
    params: [Number(hasCrashed), sessionSlot(run), node, recoveredAt, Date.now(), run.id, run.epoch],
    rows: 1,
    changedRun: run.id,
  };
}

/**
 * Changes `running` to `waiting`, or back to `queued`; the run still holds its session.
 * @param expiresAt when the first pending request expires, epoch ms
 * @param pending number of decisions that a waiting run needs
 */
export function releaseRun(
  run: RunKey,
  status: 'waiting' | 'queued',
  expiresAt: number | null = null,
  pending: number | null = null,
): Statement {
  return {
    sql: `UPDATE run SET status = ?, attempts = 0, expires_at = ?, pending = ?, changed_at = ?
      WHERE id = ? AND epoch = ? AND status = 'running'`,
    params: [status, expiresAt, pending, Date.now(), run.id, run.epoch],
    rows: 1,
    changedRun: run.id,
  };
}

/** Returns a running run to the queue until its provider may be available; this is not a crash. */
export function postponeRun(run: RunKey, { notBefore, since, code }: Postponement): Statement {
  return {
    sql: `UPDATE run SET status = 'queued', expires_at = NULL, not_before = ?, outage_since = ?, outage_code = ?,
        changed_at = ?
      WHERE id = ? AND epoch = ? AND status = 'running'`,
    params: [notBefore, since, code, Date.now(), run.id, run.epoch],
    rows: 1,
    changedRun: run.id,
  };
}

/** The time limit of an answer to a waiting run. */
export interface AnswerTime {
  /** The time of the answer, epoch ms. */
  readonly at: number;
  /** Expiry of the answered requests after that of the run's first request, in ms. */
  readonly afterFirstMs: number;
}

/**
 * Changes `waiting` to `queued` with an answer. Every resumption starts with this statement, and only one succeeds.
 * @param time of an answer that counts only before a deadline
 */
export function answerRun(run: RunKey, time?: AnswerTime): Statement {
  const isInTime = time ? ' AND expires_at + ? > ?' : '';
  return {
    sql: `UPDATE run SET status = 'queued', expires_at = NULL, pending = NULL, changed_at = ?
      WHERE id = ? AND epoch = ? AND status = 'waiting'${isInTime}`,
    params: [Date.now(), run.id, run.epoch, ...(time ? [time.afterFirstMs, time.at] : [])],
    rows: 1,
    changedRun: run.id,
  };
}

const NO_END: StoredEnd = { summary: null, errorCode: null };

/**
 * Ends the run and frees its session, conditional on the status that the caller saw and on the epoch.
 * @param end what remains after the journal is pruned
 */
export function endRun(
  run: RunKey,
  from: RunStatus,
  to: RunStatus,
  at: number,
  { summary, errorCode }: StoredEnd = NO_END,
): Statement {
  return {
    sql: `UPDATE run SET status = ?, session_slot = NULL, expires_at = NULL, finished_at = ?, summary = ?, error_code = ?,
        changed_at = ?
      WHERE id = ? AND epoch = ? AND status = ?`,
    params: [to, at, summary, errorCode, Date.now(), run.id, run.epoch, from],
    rows: 1,
    changedRun: run.id,
  };
}

/**
 * The start of a run's question, up to 200 UTF-16 units, without half a surrogate pair; text that every database stores
 * unchanged.
 */
export function toPreview(question: string): string {
  const isPair = isHigh(question.charCodeAt(PREVIEW_LENGTH - 1)) && question.length > PREVIEW_LENGTH;
  const start = question.slice(0, isPair ? PREVIEW_LENGTH - 1 : PREVIEW_LENGTH);
  return start.toWellFormed().replaceAll('\0', '\ufffd');
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
