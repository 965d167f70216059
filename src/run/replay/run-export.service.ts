import { Injectable } from '@nestjs/common';
import { HEAP_COST, HeapBudget, type Principal } from '../../kernel/index.js';
import { parseExactJson } from '../../kernel/json/index.js';
import { heapExhausted } from '../admission/run-admission.service.js';
import { FILE_STEP } from '../files/run-file.mapper.js';
import { type AuditedEvent, type AuditedStep, RunAuditStore } from '../query/run-audit.store.js';
import { RunHandlerRegistry } from '../run-handler.registry.js';
import { RunJournal } from '../run-journal.js';
import { RunService } from '../run.service.js';
import type { RunRecord } from '../run.types.js';
import { toRequestHash } from '../run-record.mapper.js';
import { ChildJoinService } from '../tree/child-join.service.js';
import type { CallPlan } from './call-plan.types.js';
import { EXPORT_VERSION, type ExportedRun } from './exported-run.js';
import { type BuiltRequest, ObservedRunContext, type ReplayObserver } from './observed-run-context.js';

const EVENT_PAGE = 500;

/** The parts of an export that a replay yields. */
interface Yield {
  readonly requests: readonly BuiltRequest[];
  readonly calls: readonly CallPlan[];
  readonly history: unknown;
}

/** Exports runs with their journals for replays elsewhere. */
@Injectable()
export class RunExportService {
  constructor(
    private readonly runs: RunService,
    private readonly journal: RunJournal,
    private readonly audit: RunAuditStore,
    private readonly handlers: RunHandlerRegistry,
    private readonly children: ChildJoinService,
    private readonly heap: HeapBudget,
  ) {}

  /**
   * The run with its journal, the requests of its model calls and the decisions about its calls. Nothing is executed.
   * @throws AppError `RUN_NOT_FOUND`, `RUN_PRUNED`, `HEAP_EXHAUSTED`
   */
  async export(principal: Principal, runId: string): Promise<ExportedRun> {
    const run = await this.runs.get(principal, runId);
    const reservation = this.heap.open((await this.journal.sizeOf(run)) * HEAP_COST.journal);
    if (!reservation) throw heapExhausted();
    try {
      return await this.exported(run);
    } finally {
      reservation.release();
    }
  }

  private async exported(run: RunRecord): Promise<ExportedRun> {
    const { id } = run;
    const [steps, events, files, sent] = await Promise.all([
      this.audit.steps(id, 0, Number.MAX_SAFE_INTEGER),
      this.events(id),
      this.files(id),
      this.sentHashes(id),
    ]);
    const { requests, calls, history } = await this.replay(run);
    return {
      version: EXPORT_VERSION,
      ...headOf(run),
      steps: steps.filter(({ kind }) => kind !== FILE_STEP).map(toStep),
      events,
      requests: requests.map((request) => toRequest(request, sent.get(request.step) ?? null)),
      calls: [...calls],
      history,
      files,
      children: await this.childrenOf(steps),
    };
  }

  /** An error ends the replay: the requests and decisions so far remain. */
  private async replay(run: RunRecord): Promise<Yield> {
    const [steps, files] = await Promise.all([this.journal.steps(run.id), this.journal.files(run.id)]);
    const found = { requests: [] as BuiltRequest[], calls: [] as CallPlan[], history: null as unknown };
    const observer: ReplayObserver = {
      requested: (request) => void found.requests.push(request),
      called: (plan) => void found.calls.push(plan),
      settled: () => undefined,
      lacked: () => undefined,
      differed: () => undefined,
      outside: async (name, read) => {
        const value = await read();
        found[name as 'history'] = value;
        return value;
      },
    };
    const { journal, children } = this;
    const recorded = { journal, steps: new Map(steps.map((step) => [step.name, step])), files, children };
    const context = new ObservedRunContext(run, recorded, observer);
    await this.handlers
      .get(run.kind)
      .execute(run, context)
      .catch(() => undefined);
    return found;
  }

  private async events(runId: string): Promise<ExportedRun['events']> {
    const all: AuditedEvent[] = [];
    for (;;) {
      const page = await this.audit.events(runId, all.at(-1)?.n ?? 0, EVENT_PAGE);
      all.push(...page);
      if (page.length < EVENT_PAGE) break;
    }
    return all.map(({ n, type, data, createdAt }) => ({ n, type, data: parseExactJson(data), created_at: createdAt }));
  }

  private async files(runId: string): Promise<ExportedRun['files']> {
    const found: ExportedRun['files'] = [];
    for (const { n } of await this.journal.files(runId)) {
      const file = await this.journal.file(runId, n);
      if (!file) continue;
      const { bytes, mediaType, name, prefix } = file;
      const data = bytes.toString('base64');
      found.push({ n, media_type: mediaType, data, ...(name && { name }), ...(prefix && { prefix }) });
    }
    return found;
  }

  private async sentHashes(runId: string): Promise<ReadonlyMap<string, string | null>> {
    const sql = 'SELECT name, request_hash FROM run_step WHERE run_id = ?';
    const rows = await this.journal.database.query<{ name: string; request_hash: string | null }>(sql, [runId]);
    return new Map(rows.map(({ name, request_hash }) => [name, request_hash]));
  }

  private async childrenOf(steps: readonly AuditedStep[]): Promise<ExportedRun['children']> {
    const children: ExportedRun['children'] = {};
    for (const { kind, result } of steps) {
      if (kind !== 'child') continue;
      // A node records the id alone.
      const child = JSON.parse(result) as string | { readonly run_id: string };
      const id = typeof child === 'string' ? child : child.run_id;
      const status = await this.children.ended(id);
      if (status?.kind === 'ended') children[id] = status;
    }
    return children;
  }
}

function headOf(run: RunRecord) {
  const { id, tenant, roles, scopes } = run.principal;
  return {
    run_id: run.id,
    kind: run.kind,
    agent: run.agent,
    status: run.status,
    session_id: run.sessionId,
    forked_from: run.forkedFrom,
    lineage: run.lineage,
    loop_version: run.loopVersion,
    timeout_ms: run.timeoutMs,
    created_at: run.createdAt,
    finished_at: run.finishedAt,
    principal: { id, tenant, roles: [...roles], ...(scopes && { scopes: [...scopes] }) },
    input: parseExactJson(run.input),
    definition: JSON.parse(run.definition) as unknown,
  };
}

function toStep({ createdAt, startedAt, firstTokenMs, attempts, ...step }: AuditedStep): ExportedRun['steps'][number] {
  const { position, name, kind, subject, epoch } = step;
  const times = { created_at: createdAt, started_at: startedAt, first_token_ms: firstTokenMs, attempts };
  return { position, name, kind, subject, result: publicResult(kind, step.result), epoch, ...times };
}

/** Removes the memo that a tool stores with its question; it is private to the tool. */
function publicResult(kind: string, result: string): unknown {
  const value = parseExactJson(result);
  if (kind !== 'suspend') return value;
  const { memo: _memo, ...visible } = value as Readonly<Record<string, unknown>>;
  return visible;
}

function toRequest({ request, ...built }: BuiltRequest, sentHash: string | null): ExportedRun['requests'][number] {
  const isForApi = built.form === 'provider';
  const hash = isForApi ? toRequestHash(JSON.stringify(built.body)) : null;
  return { ...built, ...(isForApi && { request }), hash, sent_hash: sentHash };
}
