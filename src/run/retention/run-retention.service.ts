import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { withLongCalls } from '../../persistence/index.js';
import { Log } from '../../errors/index.js';
import { RecurringWork, DAY_MS } from '../../kernel/index.js';
import { runConfig, type RunConfig } from '../../config/index.js';
import type { RunStatus } from '../run.types.js';
import { RunUsageStore } from '../usage/run-usage.store.js';
import { KEY_TABLES, RunRetentionStore, type AgingRun } from './run-retention.store.js';

const FIRST_SWEEP_MS = 60_000;
const SWEEP_EVERY_MS = 3_600_000;
const RUNS_A_PAGE = 500;
const RUNS_A_BATCH = 100;
const KEYS_A_BATCH = 500;
const CALLS_A_BATCH = 500;
const EVALS_A_BATCH = 20;
/** Limits of one sweep: a wrong clock must not delete everything at once. */
const RUNS_A_SWEEP = 10_000;
const BATCHES_A_SWEEP = 100;
/** Delay of the next sweep after one that reached a limit, in ms. */
const NEXT_SWEEP_MS = 60_000;
/** Validity of an idempotency key. */
const KEY_AGE_MS = DAY_MS;

/**
 * Deletes the journals of old ended runs (age limit by status), reports of evals, idempotency keys, and usage rows. Every process does
 * so, in small batches; a repetition has no effect.
 */
@Injectable()
export class RunRetentionService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Log(RunRetentionService.name);
  private readonly sweeps = new RecurringWork({
    work: () => this.sweepAndLog(),
    onFailure: (err) => this.logger.error({ err }, 'Failed to prune old runs; retrying at the next sweep'),
    retryMs: SWEEP_EVERY_MS,
    onClockJump: (jumpMs) =>
      this.logger.warn({ jump_ms: jumpMs }, 'Wall clock jumped; old runs are not deleted for 10 minutes'),
  });
  /** All runs up to this id are pruned or will never be. */
  private settled = '';
  /** Whether the last sweep reached a limit. */
  private hasMore = false;

  constructor(
    private readonly store: RunRetentionStore,
    private readonly usages: RunUsageStore,
    @Inject(runConfig.KEY) private readonly config: RunConfig,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.store.onceOpen(() => this.sweeps.start(FIRST_SWEEP_MS));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.sweeps.stop();
  }

  /**
   * Deletes the data whose retention period has expired at `now`.
   * @param now epoch ms
   * @returns the number of pruned runs
   */
  sweep(now: number): Promise<number> {
    return withLongCalls(() => this.sweepAll(now));
  }

  private async sweepAll(now: number): Promise<number> {
    this.hasMore = false;
    const pruned = await this.sweepRuns(now);
    for (const table of KEY_TABLES) {
      await this.dropAll(() => this.store.dropKeys(table, now - KEY_AGE_MS, KEYS_A_BATCH));
    }
    // A report has excerpts of its runs, which are completed as a rule.
    const age = this.retentionMs('completed');
    if (age !== Infinity) await this.dropAll(() => this.store.dropEvals(now - age, EVALS_A_BATCH));
    await this.sweepUsage(now);
    return pruned;
  }

  private async sweepAndLog(): Promise<number> {
    const pruned = await this.sweep(Date.now());
    const more = this.hasMore ? '; the next sweep continues' : '';
    if (pruned > 0 || this.hasMore) this.logger.log(`Deleted the journals of ${pruned} old runs${more}`);
    return this.hasMore ? NEXT_SWEEP_MS : SWEEP_EVERY_MS;
  }

  private async sweepUsage(now: number): Promise<void> {
    const retentionMs = toMs(this.config.retention.usageDays);
    if (retentionMs === Infinity) return;
    await this.dropAll(() => this.usages.drop(now - retentionMs, CALLS_A_BATCH));
  }

  /** @param drop deletes a batch, and resolves with whether there are more rows */
  private async dropAll(drop: () => Promise<boolean>): Promise<void> {
    for (let batches = 1; !this.sweeps.isStopping && (await drop()); batches++) {
      if (batches >= BATCHES_A_SWEEP) return void (this.hasMore = true);
      await this.sweeps.rest();
    }
  }

  /** Scans the runs from the oldest, until all are too young to prune. */
  private async sweepRuns(now: number): Promise<number> {
    let pruned = 0;
    let isSettled = true;
    for (let place = this.settled; !this.sweeps.isStopping;) {
      const page = await this.store.runsAfter(place, RUNS_A_PAGE);
      const due = page.filter((run) => this.isDue(run, now));
      await this.pruneAll(due, now);
      pruned += due.length;
      const done = new Set(due);
      for (const run of page) {
        isSettled &&= done.has(run) || this.isSettled(run);
        if (isSettled) this.settled = run.id;
      }
      const isOver = page.every(({ createdAt }) => createdAt > now - this.shortestMs);
      if (isOver || page.length < RUNS_A_PAGE) break;
      if (pruned >= RUNS_A_SWEEP) {
        this.hasMore = true;
        break;
      }
      place = page.at(-1)!.id;
      await this.sweeps.rest();
    }
    return pruned;
  }

  private async pruneAll(due: readonly AgingRun[], now: number): Promise<void> {
    for (let at = 0; at < due.length; at += RUNS_A_BATCH) {
      if (at > 0) await this.sweeps.rest();
      await this.store.prune(
        due.slice(at, at + RUNS_A_BATCH).map(({ id }) => id),
        now,
      );
    }
  }

  private isDue({ status, finishedAt, prunedAt }: AgingRun, now: number): boolean {
    return prunedAt === null && finishedAt !== null && finishedAt < now - this.retentionMs(status);
  }

  private isSettled({ status, finishedAt, prunedAt }: AgingRun): boolean {
    return prunedAt !== null || (finishedAt !== null && this.retentionMs(status) === Infinity);
  }

  /** Retention time of runs with this status, in ms; open runs are never pruned. */
  private retentionMs(status: RunStatus): number {
    const { completedDays, failedDays } = this.config.retention;
    switch (status) {
      case 'completed':
        return toMs(completedDays);
      case 'failed':
      case 'cancelled':
        return toMs(failedDays);
      case 'queued':
      case 'running':
      case 'waiting':
        return Infinity;
    }
  }

  private get shortestMs(): number {
    return Math.min(this.retentionMs('completed'), this.retentionMs('failed'));
  }
}

/** 0 days means no limit. */
function toMs(days: number): number {
  return days === 0 ? Infinity : days * DAY_MS;
}
