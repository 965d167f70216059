import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { databaseConfig, type DatabaseConfig } from '../../config/namespaces/index.js';
import { Log } from '../../errors/index.js';
import { idsFrom } from '../../kernel/index.js';
import { Database } from '../../persistence/index.js';
import { Tracing } from '../../telemetry/index.js';
import { RunJournal } from '../run-journal.js';
import { RunTracing, SENT_WITHIN_MS } from './run-tracing.service.js';

/** Age of the runs whose traces are completed, in ms. */
const MAX_AGE_MS = 3_600_000;
/** Limit of these runs, the newest first. A crashed process has had fewer spans in its queue. */
const MAX_RUNS = 1_000;
/** Runs whose spans are queued at once; the queue is bounded. */
const RUNS_AT_ONCE = 20;

/**
 * Sends the spans of runs that ended shortly before a crash: no process resumes such a run. Each start does so; where
 * other processes use the database, after the time in which a living one has sent its own.
 */
@Injectable()
export class UnsentTraces implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Log(UnsentTraces.name);
  private timer: NodeJS.Timeout | undefined;
  private isClosing = false;

  constructor(
    private readonly tracing: Tracing,
    private readonly database: Database,
    private readonly journal: RunJournal,
    private readonly traces: RunTracing,
    @Inject(databaseConfig.KEY) private readonly place: DatabaseConfig,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.tracing.isOn) return;
    const startedAt = Date.now();
    if (this.place.isShared) this.timer = setTimeout(() => void this.send(startedAt), SENT_WITHIN_MS).unref();
    else void this.send(startedAt);
  }

  onApplicationShutdown(): void {
    this.isClosing = true;
    clearTimeout(this.timer);
  }

  /** @param before epoch ms; later runs are those of living processes */
  private async send(before: number): Promise<void> {
    try {
      const ids = await this.unsent(before);
      for (let at = 0; at < ids.length && !this.isClosing; at += RUNS_AT_ONCE) {
        for (const id of ids.slice(at, at + RUNS_AT_ONCE)) await this.resend(id);
        await this.tracing.flush();
      }
    } catch (err) {
      if (!this.isClosing)
        this.logger.warn({ err }, 'Failed to complete the traces of ended runs; retrying at next start');
    }
  }

  private async resend(id: string): Promise<void> {
    const run = await this.journal.find(id);
    if (run) await this.traces.resend(run);
  }

  private async unsent(before: number): Promise<string[]> {
    const rows = await this.database.query<{ readonly id: string }>(
      `SELECT id FROM run WHERE id >= ? AND id < ? AND finished_at < ? AND pruned_at IS NULL
        AND (traced_at IS NULL OR traced_at < finished_at) ORDER BY id DESC LIMIT ${MAX_RUNS}`,
      [idsFrom(before - MAX_AGE_MS), idsFrom(before), before],
    );
    return rows.map(({ id }) => id).toReversed();
  }
}
