import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { AppError, Log } from '../errors/index.js';
import { newId, RecurringWork } from '../kernel/index.js';
import { Database, isStorageUnavailable, refusalOf } from '../persistence/index.js';
import { MetricRegistry } from '../telemetry/index.js';
import { ScheduledRunService } from './scheduled-run.service.js';
import { MISSED_AFTER_MS, ScheduleTimes } from './schedule-times.js';
import { type Schedule, ScheduleStore, type SettledTime, settleTime } from './schedule.store.js';

const FIRST_ROUND_MS = 500;
/** Longest time until a schedule that another process has created is found, in ms. */
const ROUND_EVERY_MS = 10_000;
/** Delay after a start that may succeed later, in ms. */
const RETRY_MS = 5_000;
const SCHEDULES_A_ROUND = 50;
/** During a rolling upgrade another process may have the agent or the workflow. */
const MAYBE_ELSEWHERE = ['AGENT_NOT_FOUND', 'WORKFLOW_NOT_FOUND'];

/**
 * Starts the runs of due schedules. Each process does so: the batch that starts a run also moves the schedule to its next
 * time, so that each time has one run, whichever processes try and wherever one crashes.
 */
@Injectable()
export class ScheduleRunner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Log(ScheduleRunner.name);
  private readonly rounds = new RecurringWork({
    work: () => this.round(),
    onFailure: (err) => this.logger.warn({ err }, 'Failed to read due schedules; retrying'),
    retryMs: RETRY_MS,
  });

  constructor(
    private readonly database: Database,
    private readonly store: ScheduleStore,
    private readonly starts: ScheduledRunService,
    private readonly metrics: MetricRegistry,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.database.onceOpen(() => this.rounds.start(FIRST_ROUND_MS));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.rounds.stop();
  }

  /** Reads due schedules now. */
  wake(): void {
    this.rounds.wake();
  }

  /** Starts all due runs, without a timer: after a test has moved the clock. */
  async handleDue(): Promise<void> {
    while ((await this.round()) === 0);
  }

  /** @returns ms until the next round; 0 if it settled a time */
  private async round(): Promise<number> {
    if (this.database.origin.isCopy) return FIRST_ROUND_MS;
    const now = Date.now();
    const due = await this.store.due(now, SCHEDULES_A_ROUND);
    let isDeferred = false;
    for (const schedule of due) {
      if (this.rounds.isStopping) break;
      isDeferred = (await this.settle(schedule, now)) === 'deferred' || isDeferred;
    }
    if (isDeferred) return RETRY_MS;
    if (due.length > 0) return 0;
    const next = await this.store.nextAfter(now);
    return next === null ? ROUND_EVERY_MS : Math.min(Math.max(next - Date.now(), 1), ROUND_EVERY_MS);
  }

  /** Settles a time of a schedule. @returns `deferred` if a later round tries again */
  private async settle(schedule: Schedule, now: number): Promise<'settled' | 'deferred'> {
    const about = { schedule_id: schedule.id };
    try {
      const { at, nextAt } = (await ScheduleTimes.of(schedule)).resolve(schedule.nextAt!, now, schedule.missed);
      if (at === null) await this.record(schedule, { at: schedule.nextAt!, nextAt, outcome: 'missed' });
      else await this.startAt(schedule, { at, nextAt });
      return 'settled';
    } catch (error) {
      // Another process settled the time, or a person changed the schedule.
      if (refusalOf(error) === 'rows') return 'settled';
      if (this.rounds.isStopping || isStorageUnavailable(error)) return 'deferred';
      if (isTransient(error, schedule, now)) {
        this.logger.warn({ err: error, ...about }, 'Scheduled run was not started; retrying');
        return 'deferred';
      }
      this.logger.error({ err: error, ...about }, 'Scheduled run was not started: its start was refused');
      return this.fail(schedule, now, error);
    }
  }

  private async startAt(schedule: Schedule, { at, nextAt }: Pick<SettledTime, 'at' | 'nextAt'>): Promise<void> {
    const owner = await this.starts.ownerOf(schedule);
    if (!owner) return this.revoke(schedule);
    if (!(await this.starts.makeRoom(schedule, owner)))
      return this.record(schedule, { at, nextAt, outcome: 'skipped' });
    const id = newId();
    const settled = settleTime(schedule, { at, nextAt, outcome: 'started', runId: id });
    await this.starts.submit(owner, schedule.work, { id, statements: [settled] });
    this.metrics.count('jackdaw_schedule_times_total', { outcome: 'started' });
    this.logger.log({ schedule_id: schedule.id, run_id: id }, 'Scheduled run started');
  }

  private async revoke(schedule: Schedule): Promise<void> {
    await this.store.change(schedule, { isActive: false, disabledReason: 'revoked', nextAt: null });
    this.logger.warn({ schedule_id: schedule.id }, 'Schedule disabled: the rights of its owner were revoked');
  }

  private async fail(schedule: Schedule, now: number, error: unknown): Promise<'settled'> {
    const code = error instanceof AppError ? error.code : 'INTERNAL';
    const times = await ScheduleTimes.of(schedule);
    await this.record(schedule, { at: schedule.nextAt!, nextAt: times.after(now), outcome: 'failed', error: code });
    return 'settled';
  }

  private async record(schedule: Schedule, settled: SettledTime): Promise<void> {
    try {
      await this.database.commit([settleTime(schedule, settled)]);
      this.metrics.count('jackdaw_schedule_times_total', { outcome: settled.outcome });
    } catch (error) {
      if (refusalOf(error) !== 'rows') throw error;
    }
  }
}

/** Whether the same start may succeed later. */
function isTransient(error: unknown, { nextAt }: Schedule, now: number): boolean {
  if (!(error instanceof AppError)) return false;
  return error.isRetryable || (MAYBE_ELSEWHERE.includes(error.code) && now - nextAt! < MISSED_AFTER_MS);
}
