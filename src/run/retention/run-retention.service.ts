import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { withLongCalls } from '../../persistence/index.js';
import { Log } from '../../errors/index.js';
import { RecurringWork, DAY_MS } from '../../kernel/index.js';
import { runConfig, type RunConfig } from '../../config/namespaces/index.js';
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

/** A retention time, in ms, with the last run that is older and was read. */
interface Age {
  readonly ms: number;
  readTo: string;
}

const ENDED = ['completed', 'failed', 'cancelled'] as const satisfies readonly RunStatus[];

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
  /** The finite retention times. */
  private readonly ages: readonly Age[];
  /** Runs that were read before they were due: they were open, or ended long after their start. */
  private readonly late = new Set<string>();
  /** Whether the last sweep reached a limit. */
  private hasMore = false;

  constructor(
    private readonly store: RunRetentionStore,
    private readonly usages: RunUsageStore,
    @Inject(runConfig.KEY) private readonly config: RunConfig,
  ) {
    const times = new Set(ENDED.map((status) => this.retentionMs(status)));
    this.ages = [...times].filter((ms) => ms !== Infinity).map((ms) => ({ ms, readTo: '' }));
  }

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

  private async sweepRuns(now: number): Promise<number> {
    let pruned = await this.pruneLate(now);
    for (const age of this.ages) pruned += await this.sweepAge(age, now, RUNS_A_SWEEP - pruned);
    return pruned;
  }

  /** Reads the runs that have become old since the last sweep, the oldest first. Each run is read once. */
  private async sweepAge(age: Age, now: number, limit: number): Promise<number> {
    let pruned = 0;
    for (; !this.sweeps.isStopping; await this.sweeps.rest()) {
      const page = await this.store.runsAfter(age.readTo, RUNS_A_PAGE);
      const last = page.findLastIndex(({ createdAt }) => createdAt <= now - age.ms);
      const old = page.slice(0, last + 1);
      const due = old.filter((run) => this.retentionMs(run.status) === age.ms && this.isDue(run, now));
      await this.pruneAll(due, now);
      pruned += due.length;
      const done = new Set(due);
      for (const run of old) if (!done.has(run) && this.mayBeDue(run, age)) this.late.add(run.id);
      age.readTo = old.at(-1)?.id ?? age.readTo;
      if (old.length < RUNS_A_PAGE) return pruned;
      if (pruned >= limit) {
        this.hasMore = true;
        return pruned;
      }
    }
    return pruned;
  }

  /** Prunes runs that were read before they were due. */
  private async pruneLate(now: number): Promise<number> {
    let pruned = 0;
    const ids = [...this.late];
    for (let at = 0; at < ids.length && !this.sweeps.isStopping; at += RUNS_A_PAGE) {
      const some = ids.slice(at, at + RUNS_A_PAGE);
      const runs = await this.store.runs(some);
      const due = runs.filter((run) => this.isDue(run, now));
      await this.pruneAll(due, now);
      pruned += due.length;
      const left = new Set(runs.filter((run) => !due.includes(run) && !this.isSettled(run)).map(({ id }) => id));
      for (const id of some) if (!left.has(id)) this.late.delete(id);
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

  /** Whether a later sweep must read the run again, and no other age reads it. */
  private mayBeDue(run: AgingRun, { ms }: Age): boolean {
    return run.prunedAt === null && (run.finishedAt === null || this.retentionMs(run.status) === ms);
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
}

/** 0 days means no limit. */
function toMs(days: number): number {
  return days === 0 ? Infinity : days * DAY_MS;
}
