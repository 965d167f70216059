import { Injectable } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { fieldMistake, newId, type Principal } from '../kernel/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import { ScheduleRunner } from './schedule-runner.js';
import { ScheduledRunService } from './scheduled-run.service.js';
import { ScheduleTimes } from './schedule-times.js';
import { type Schedule, ScheduleStore } from './schedule.store.js';

/** Schedules of one tenant. */
const MOST_SCHEDULES = 1_000;

/** A schedule to create. */
export type NewSchedule = Pick<Schedule, 'work' | 'cron' | 'at' | 'timeZone' | 'overlap' | 'missed'>;

/** Changes of a schedule; absent fields stay. A new `cron` or `at` replaces both. */
export interface ScheduleChanges extends Partial<Omit<NewSchedule, 'work'>> {
  readonly isActive?: boolean;
  /** Changes of the work; its agent or workflow stays. */
  readonly work?: Partial<Omit<Schedule['work'], 'kind' | 'subject'>>;
}

/** Creates, changes and removes schedules. A caller sees its own, or those of its tenant, as with runs. */
@Injectable()
export class ScheduleService {
  constructor(
    private readonly store: ScheduleStore,
    private readonly runner: ScheduleRunner,
    private readonly starts: ScheduledRunService,
    private readonly access: AccessLogService,
  ) {}

  /**
   * @param owner with whose rights the runs execute
   * @param id of the schedule
   * @throws AppError `VALIDATION_FAILED`, `AGENT_NOT_FOUND`, `WORKFLOW_NOT_FOUND`, `INPUT_BLOCKED` as the start of a run;
   *   `REQUEST_REFUSED` beyond 1,000 schedules
   */
  async create(owner: Principal, wanted: NewSchedule, id = newId()): Promise<Schedule> {
    const nextAt = await firstTime(wanted);
    await this.starts.check(owner, wanted.work);
    if ((await this.store.count(owner.tenant)) >= MOST_SCHEDULES) {
      throw new AppError('REQUEST_REFUSED', `A tenant has at most ${MOST_SCHEDULES} schedules: delete one first.`);
    }
    const schedule: Schedule = {
      ...wanted,
      id,
      tenant: owner.tenant,
      principal: owner,
      isActive: true,
      disabledReason: null,
      nextAt,
      lastAt: null,
      lastRunId: null,
      lastOutcome: null,
      lastError: null,
      createdAt: Date.now(),
    };
    await this.store.add(schedule);
    this.access.record(owner, 'create', 'schedule', id);
    this.runner.wake();
    return schedule;
  }

  /**
   * The schedules that the caller may see, newest first.
   * @param after the `next` of the previous page
   */
  async list(
    viewer: Principal,
    limit: number,
    after?: string,
  ): Promise<{ readonly schedules: readonly Schedule[]; readonly next: string | null }> {
    const found = await this.store.list(viewer, limit + 1, after);
    const schedules = found.slice(0, limit);
    return { schedules, next: found.length > limit ? schedules.at(-1)!.id : null };
  }

  /** @throws AppError `SCHEDULE_NOT_FOUND`, also for a schedule that the caller may not see */
  async get(viewer: Principal, id: string): Promise<Schedule> {
    const schedule = await this.store.find(viewer, id);
    if (schedule) return schedule;
    throw new AppError(
      'SCHEDULE_NOT_FOUND',
      `There is no schedule "${id}": \`GET /api/schedules\` lists those there are.`,
    );
  }

  /**
   * Changes a schedule. Enabled or with new times it continues at its next time from now on. Only its owner may change the
   * work, which executes with the owner's rights.
   * @throws AppError `SCHEDULE_NOT_FOUND`, `FORBIDDEN`, and as `create`
   */
  async change(caller: Principal, id: string, changes: ScheduleChanges): Promise<Schedule> {
    const schedule = await this.get(caller, id);
    const { work, isActive = schedule.isActive, ...rest } = changes;
    const next: Schedule = { ...schedule, ...rest, ...(work && { work: { ...schedule.work, ...work } }) };
    if (work) await this.checkWork(caller, next);
    const nextAt = isActive ? await nextTime(schedule, next, changes) : null;
    const disabledReason = isActive ? null : (schedule.disabledReason ?? 'person');
    await this.store.change(schedule, { ...rest, ...(work && { work: next.work }), isActive, disabledReason, nextAt });
    this.access.record(caller, isActive ? 'enable' : 'disable', 'schedule', id);
    this.runner.wake();
    return this.get(caller, id);
  }

  private async checkWork(caller: Principal, schedule: Schedule): Promise<void> {
    if (caller.id !== schedule.principal.id) {
      throw new AppError('FORBIDDEN', 'Only the owner of a schedule may change its work: create a schedule instead.');
    }
    await this.starts.check(caller, schedule.work);
  }

  /** Removes a schedule; its runs continue. @throws AppError `SCHEDULE_NOT_FOUND` */
  async remove(caller: Principal, id: string): Promise<void> {
    const schedule = await this.get(caller, id);
    await this.store.remove(schedule.id);
    this.access.record(caller, 'revoke', 'schedule', id);
  }

  /**
   * Starts a run of the schedule now, apart from its times and with its owner's rights: the owner wrote its work.
   * @returns the id of the run
   * @throws AppError `SCHEDULE_NOT_FOUND`, `FORBIDDEN` if the owner's rights were revoked, and as the start of a run
   */
  async trigger(caller: Principal, id: string): Promise<string> {
    const schedule = await this.get(caller, id);
    const owner = await this.starts.ownerOf(schedule);
    if (owner) return this.starts.submit(owner, schedule.work);
    throw new AppError('FORBIDDEN', `The rights of the owner of schedule "${id}" were revoked: create it again.`);
  }
}

/** The next time after a change: new times, and an enabled schedule, start from now. */
async function nextTime(schedule: Schedule, next: Schedule, changes: ScheduleChanges): Promise<number | null> {
  const { cron, at, timeZone } = changes;
  const isNew = cron !== undefined || at !== undefined || timeZone !== undefined;
  return isNew || !schedule.isActive ? firstTime(next) : schedule.nextAt;
}

/** @throws AppError `VALIDATION_FAILED` for times without a time from now on */
async function firstTime(wanted: Pick<Schedule, 'cron' | 'at' | 'timeZone'>): Promise<number> {
  const first = (await ScheduleTimes.of(wanted)).after(Date.now());
  if (first !== null) return first;
  const field = wanted.cron === null ? 'at' : 'cron';
  const message = `${field} must have a time in the future`;
  throw new AppError('VALIDATION_FAILED', `The request is not valid: ${message}.`, {
    details: { errors: [fieldMistake(field, message, 'isInTheFuture', String(wanted[field]))] },
  });
}
