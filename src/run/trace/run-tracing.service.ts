import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Log } from '../../errors/index.js';
import { Database, inLists } from '../../persistence/index.js';
import type { Statement } from '../../persistence/statement/index.js';
import { type Span, type SpanSource, type TraceParent, Tracing } from '../../telemetry/index.js';
import { FILE_STEP } from '../files/run-file.mapper.js';
import { stepPlace } from '../run-record.mapper.js';
import type { RunItem } from '../event/run-item.factory.js';
import { RunJournal } from '../run-journal.js';
import { RunExecutor } from '../run.executor.js';
import type { RunRecord } from '../run.types.js';
import { positionOf } from './run-span.mapper.js';
import type { RunTrace, RunTracer, RunTraceParts, TracedStep } from './run-trace.js';

/** Time in which another living process has sent the spans of its commits, or has dropped them; in ms. */
export const SENT_WITHIN_MS = 60_000;

interface StepRow {
  readonly name: string;
  readonly tenant: string;
  readonly kind: string;
  readonly subject: string;
  readonly result: string;
  readonly epoch: number;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly first_token_ms: number | null;
  readonly attempts: number | null;
}

/**
 * Opens the traces of runs, and records which commits the collector has the spans of. So a process that resumes a run after
 * a crash sends the spans that the crashed one has not sent.
 */
@Injectable()
export class RunTracing implements RunTracer, OnModuleInit {
  private readonly logger = new Log(RunTracing.name);
  private Trace!: typeof RunTrace;
  /** The time of the last commit whose spans wait in this process, by run. */
  private readonly waiting = new Map<string, number>();

  constructor(
    private readonly tracing: Tracing,
    private readonly database: Database,
    private readonly journal: RunJournal,
    private readonly executor: RunExecutor,
  ) {}

  async onModuleInit(): Promise<void> {
    if (!this.tracing.isOn) return;
    ({ RunTrace: this.Trace } = await import('./run-trace.js'));
    this.tracing.onSettled((sources, isExported) => this.settle(sources, isExported));
    this.executor.useTracing(this);
  }

  /** The span of a run. */
  spanOf(run: RunRecord): TraceParent {
    return positionOf(run, this.tracing).span;
  }

  /** The trace of a run that starts. */
  open(run: RunRecord, links?: Span['links']): RunTrace {
    const { tracing } = this;
    const onSend = (at: number) => void this.waiting.set(run.id, at);
    const parts: RunTraceParts = { tracing, position: positionOf(run, tracing), links, onSend };
    return new this.Trace(run, parts);
  }

  /** The trace of a run that resumes; sends the spans of earlier executions that the collector may lack. */
  async reopen(run: RunRecord): Promise<RunTrace> {
    if (run.epoch <= 1 && run.forkedFrom === null) return this.open(run);
    const trace = await this.openAgain(run);
    try {
      await this.restore(trace, run, run.attempts > 0 ? Infinity : Date.now() - SENT_WITHIN_MS);
    } catch (err) {
      this.logger.warn({ err, run_id: run.id }, 'Failed to read the earlier steps of a trace; it has only later ones');
    }
    return trace;
  }

  /** Sends the spans of an ended run that the collector may lack. */
  async resend(run: RunRecord): Promise<void> {
    if (this.spanOf(run).isSampled) await this.restore(await this.openAgain(run), run, Infinity);
  }

  private async openAgain(run: RunRecord): Promise<RunTrace> {
    return this.open(run, run.forkedFrom === null ? undefined : await this.linkTo(run.forkedFrom));
  }

  /**
   * Sends the spans of commits before a time that the collector may lack. A living process sends its spans itself; a
   * crashed one has sent those of commits up to `traced_at`.
   */
  private async restore(trace: RunTrace, run: RunRecord, before: number): Promise<void> {
    const sql = 'SELECT traced_at AS at FROM run WHERE id = ?';
    const [row] = await this.database.query<{ readonly at: number | null }>(sql, [run.id]);
    const after = Math.max(row?.at ?? 0, this.waiting.get(run.id) ?? 0);
    const isUnsent = (at: number) => at > after && at < before;
    trace.restore({ steps: await this.steps(run), items: await this.items(run), isUnsent });
  }

  private async linkTo(runId: string): Promise<Span['links']> {
    const original = await this.journal.find(runId).catch(() => null);
    return original ? [this.spanOf(original)].map(({ traceId, spanId }) => ({ traceId, spanId })) : undefined;
  }

  private async steps({ id }: RunRecord): Promise<TracedStep[]> {
    const rows = await this.database.query<StepRow>(
      `SELECT name, tenant, kind, subject, result, epoch, created_at, started_at, first_token_ms, attempts
        FROM run_step WHERE run_id = ? AND kind <> ?`,
      [id, FILE_STEP],
    );
    return rows.map(({ name, tenant, kind, subject, result, epoch, ...times }) => ({
      name,
      kind,
      subject,
      result: this.journal.cipher.open(result, stepPlace(tenant, id, name)),
      epoch,
      createdAt: times.created_at,
      ...(times.started_at !== null && { startedAt: times.started_at }),
      ...(times.first_token_ms !== null && { firstTokenMs: times.first_token_ms }),
      ...(times.attempts !== null && { attempts: times.attempts }),
    }));
  }

  private async items({ id }: RunRecord): Promise<RunItem[]> {
    const items: RunItem[] = [];
    for (let page = await this.journal.events(id, 0); page.length > 0;) {
      items.push(...page);
      page = await this.journal.events(id, page.at(-1)!.n!);
    }
    return items;
  }

  private async settle(sources: readonly SpanSource[], isExported: boolean): Promise<void> {
    // The spans of a run are in the order of its commits.
    const last = new Map(sources.map((source) => [source.runId, source]));
    try {
      if (isExported && last.size > 0) await this.database.commit(statementsOf([...last.values()]));
    } catch (err) {
      this.logger.warn({ err }, 'Failed to record sent spans; a run that resumes may send them again');
    }
    for (const { runId, at } of last.values()) if (this.waiting.get(runId) === at) this.waiting.delete(runId);
  }
}

/** A run that has ended has no later commits, so one statement serves all of these. */
function statementsOf(last: readonly SpanSource[]): Statement[] {
  const [ended, open] = [true, false].map((isEnded) => last.filter(({ isLast }) => isLast === isEnded));
  const ids = ended!.map(({ runId }) => runId);
  const at = Math.max(...ended!.map((source) => source.at));
  return [
    ...open!.map((source) => ({ sql: 'UPDATE run SET traced_at = ? WHERE id = ?', params: [source.at, source.runId] })),
    ...inLists(ids).map(({ marks, params }) => ({
      sql: `UPDATE run SET traced_at = ? WHERE id IN (${marks})`,
      params: [at, ...params],
    })),
  ];
}
