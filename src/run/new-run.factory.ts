import { RunItem } from './run-item.factory.js';
import type { RunRecord, StartRun } from './run.types.js';

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

/** @param missing names of the MCP servers whose tools are missing */
export function startedItem(run: RunRecord, now: number, missing: readonly string[]): RunItem {
  const { id: run_id, sessionId: session_id, agent, lineage } = run;
  const parent = lineage && { parent_run_id: lineage.parentRunId };
  const without = missing.length > 0 && { missing_mcp_servers: missing };
  return new RunItem(1, now, { type: 'run.started', run_id, session_id, agent, ...parent, ...without });
}

function toRecord(start: StartRun, status: 'running' | 'queued', node: string | null, now: number): RunRecord {
  const { statements: _s, check: _c, idempotency: _i, ...record } = start;
  const { isFirstOfSession: _f, isPublishedWhole: _t, isEarly: _e, ...rest } = record;
  const isStarted = status === 'running' || start.forkedFrom !== undefined;
  return {
    ...rest,
    tenant: start.principal.tenant,
    status,
    epoch: isStarted ? 1 : 0,
    owner: node,
    attempts: 0,
    cancelRequestedAt: null,
    createdAt: now,
    finishedAt: null,
    priority: start.priority ?? 0,
    deadlineAt: start.deadlineAt ?? null,
    forkedFrom: start.forkedFrom ?? null,
    lineage: start.lineage ?? null,
    prunedAt: null,
    summary: null,
  };
}
