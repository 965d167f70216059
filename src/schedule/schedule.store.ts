import { Injectable } from '@nestjs/common';
import type { EntitySchemaOptions } from 'typeorm';
import type { Principal } from '../kernel/index.js';
import { Database } from '../persistence/index.js';
import type { Table } from '../persistence/schema/index.js';
import type { Statement } from '../persistence/statement/index.js';
import { Ownership } from '../security/index.js';
import { Cipher, type RowPlace, type SealedTable, type StoredRow } from '../security/encryption/index.js';

/** If the last run of the schedule has not ended: skip the time, start another run, or cancel that run first. */
export const OVERLAP_POLICIES = ['skip', 'allow', 'replace'] as const;
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number];

/** After a stop: skip missed times, start one run for all of them, or one for each of the last 100. */
export const MISSED_POLICIES = ['skip', 'once', 'all'] as const;
export type MissedPolicy = (typeof MISSED_POLICIES)[number];

/** The last time of a schedule: a run was started, or the time was skipped, missed, or its start was refused. */
export type ScheduleOutcome = 'started' | 'skipped' | 'missed' | 'failed';

/** Why a schedule is disabled: by a person, because its owner lost the rights, or on a copy of the database. */
export type ScheduleDisabledReason = 'person' | 'revoked' | 'restored';

/** The run that a schedule starts. */
export interface ScheduledWork {
  readonly kind: 'agent' | 'workflow';
  /** Name of the agent or the workflow. */
  readonly subject: string;
  /** The message to the agent. */
  readonly query?: string;
  /** The input of the workflow. */
  readonly input?: Readonly<Record<string, unknown>>;
  readonly sessionId?: string;
  /** 0 to 9; of queued runs the higher starts first. */
  readonly priority?: number;
  /** Deadline of each run, in ms from its start. */
  readonly deadlineMs?: number;
}

/** The times of a schedule: either a cron expression or one time. */
export interface ScheduleTime {
  /** Five fields, or a name such as `@daily`. */
  readonly cron: string | null;
  /** Epoch ms. */
  readonly at: number | null;
  /** IANA time zone of the expression. */
  readonly timeZone: string;
}

/** A schedule. Times are epoch ms. */
export interface Schedule extends ScheduleTime {
  readonly id: string;
  readonly tenant: string;
  /** The owner, with whose rights the runs execute. */
  readonly principal: Principal;
  readonly work: ScheduledWork;
  readonly overlap: OverlapPolicy;
  readonly missed: MissedPolicy;
  readonly isActive: boolean;
  readonly disabledReason: ScheduleDisabledReason | null;
  /** `null` without a further time. */
  readonly nextAt: number | null;
  /** The last time whose outcome is known. */
  readonly lastAt: number | null;
  readonly lastRunId: string | null;
  readonly lastOutcome: ScheduleOutcome | null;
  /** Code of the error of a refused start. */
  readonly lastError: string | null;
  readonly createdAt: number;
}

export interface StoredSchedule extends Omit<Schedule, 'principal' | 'work' | 'isActive'> {
  readonly principalId: string;
  readonly principal: string;
  readonly kind: ScheduledWork['kind'];
  readonly subject: string;
  readonly work: string;
  readonly isActive: number;
}

export const ScheduleEntity: EntitySchemaOptions<StoredSchedule> = {
  name: 'run_schedule',
  withoutRowid: true,
  columns: {
    id: { type: 'varchar', length: 64, primary: true },
    tenant: { type: 'varchar', length: 128 },
    principalId: { type: 'varchar', name: 'principal_id', length: 128 },
    principal: { type: 'text' },
    kind: { type: 'varchar', length: 16 },
    subject: { type: 'varchar', length: 255 },
    work: { type: 'text' },
    cron: { type: 'varchar', length: 128, nullable: true },
    at: { type: 'bigint', nullable: true },
    timeZone: { type: 'varchar', name: 'time_zone', length: 64 },
    overlap: { type: 'varchar', length: 16 },
    missed: { type: 'varchar', length: 16 },
    isActive: { type: 'integer', name: 'is_active' },
    disabledReason: { type: 'varchar', name: 'disabled_reason', length: 32, nullable: true },
    nextAt: { type: 'bigint', name: 'next_at', nullable: true },
    lastAt: { type: 'bigint', name: 'last_at', nullable: true },
    lastRunId: { type: 'varchar', name: 'last_run_id', length: 64, nullable: true },
    lastOutcome: { type: 'varchar', name: 'last_outcome', length: 16, nullable: true },
    lastError: { type: 'varchar', name: 'last_error', length: 64, nullable: true },
    createdAt: { type: 'bigint', name: 'created_at' },
  },
};

function placeOf(tenant: string, id: string, column: 'principal' | 'work'): RowPlace {
  return { tenant, column: `run_schedule.${column}`, owner: id, row: '' };
}

const sealedColumn = (name: 'principal' | 'work') => ({
  name,
  place: ({ tenant, id }: StoredRow) => placeOf(String(tenant), String(id), name),
});

/** The encrypted columns, for re-encryption. */
export const SCHEDULE_SEALED_TABLES: readonly SealedTable[] = [
  { name: 'run_schedule', key: ['id'], also: ['tenant'], columns: [sealedColumn('principal'), sealedColumn('work')] },
];

/** Disables all schedules, as on a copy of the database. */
export const DISABLE_SCHEDULES: Statement = {
  sql: `UPDATE run_schedule SET is_active = 0, disabled_reason = 'restored', next_at = NULL WHERE is_active = 1`,
  params: [],
};

/** The outcome of a time. */
export interface SettledTime {
  /** The time, epoch ms. */
  readonly at: number;
  readonly nextAt: number | null;
  readonly outcome: ScheduleOutcome;
  readonly runId?: string;
  readonly error?: string;
}

/**
 * Records the outcome of a time, conditional on the time that the caller read: of several processes one succeeds. With a
 * run it belongs to the batch that starts the run.
 */
export function settleTime({ id, nextAt: seen, lastRunId, lastAt }: Schedule, settled: SettledTime): Statement {
  const { at, nextAt, outcome, runId, error } = settled;
  return {
    sql: `UPDATE run_schedule SET next_at = ?, last_at = ?, last_outcome = ?, last_run_id = ?, last_error = ?
      WHERE id = ? AND next_at = ? AND is_active = 1`,
    params: [nextAt, Math.max(at, lastAt ?? 0), outcome, runId ?? lastRunId, error ?? null, id, seen],
    rows: 1,
  };
}

/** The table `run_schedule`. The owner and the work are encrypted if rows are. */
@Injectable()
export class ScheduleStore {
  private readonly schedules: Table<StoredSchedule>;

  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
    private readonly ownership: Ownership,
  ) {
    this.schedules = database.table(ScheduleEntity);
  }

  add(schedule: Schedule): Promise<void> {
    const { tenant, id, principal, work, isActive, ...rest } = schedule;
    return this.schedules.insert({
      ...rest,
      id,
      tenant,
      principalId: principal.id,
      principal: this.cipher.seal(JSON.stringify(principal), placeOf(tenant, id, 'principal')),
      kind: work.kind,
      subject: work.subject,
      work: this.seal(tenant, id, work),
      isActive: Number(isActive),
    });
  }

  /** The schedule, if the principal may see it. */
  async find(viewer: Principal, id: string): Promise<Schedule | null> {
    const found = await this.schedules.findOne({ id, ...this.visible(viewer) });
    return found && this.toSchedule(found);
  }

  /** The schedules that the principal may see, newest first, after the id `after`. */
  async list(viewer: Principal, limit: number, after?: string): Promise<Schedule[]> {
    const { LessThan } = await import('typeorm');
    const where = { ...this.visible(viewer), ...(after !== undefined && { id: LessThan(after) }) };
    const rows = await this.schedules.find({ where, order: { id: 'DESC' }, take: limit });
    return rows.map((row) => this.toSchedule(row));
  }

  async count(tenant: string): Promise<number> {
    return (await this.schedules.find({ where: { tenant }, select: { id: true } })).length;
  }

  /** Active schedules whose time has come, the oldest first. */
  async due(now: number, limit: number): Promise<Schedule[]> {
    const { LessThanOrEqual } = await import('typeorm');
    const where = { nextAt: LessThanOrEqual(now), isActive: 1 };
    const rows = await this.schedules.find({ where, order: { nextAt: 'ASC' }, take: limit });
    return rows.map((row) => this.toSchedule(row));
  }

  /** The next time of any schedule after a time; `null` without one. */
  async nextAfter(now: number): Promise<number | null> {
    const [row] = await this.database.query<{ at: number | null }>(
      'SELECT MIN(next_at) AS at FROM run_schedule WHERE next_at > ?',
      [now],
    );
    return row?.at ?? null;
  }

  async change({ id, tenant }: Schedule, changes: Partial<Schedule>): Promise<void> {
    const { work, isActive, principal: _, ...rest } = changes;
    await this.schedules.update(
      { id },
      {
        ...rest,
        ...(work && { subject: work.subject, work: this.seal(tenant, id, work) }),
        ...(isActive !== undefined && { isActive: Number(isActive) }),
      },
    );
  }

  async remove(id: string): Promise<void> {
    await this.schedules.delete({ id });
  }

  /** Deletes the schedules of a user. @returns their number */
  eraseUser(tenant: string, principalId: string): Promise<number> {
    return this.schedules.delete({ tenant, principalId });
  }

  private visible(viewer: Principal): { readonly tenant: string; readonly principalId?: string } {
    const owner = this.ownership.limitOf(viewer);
    return { tenant: viewer.tenant, ...(owner !== null && { principalId: owner }) };
  }

  private toSchedule(row: StoredSchedule): Schedule {
    const { principalId: _id, kind: _kind, subject: _subject, principal, work, isActive, ...rest } = row;
    const { tenant, id } = row;
    return {
      ...rest,
      principal: this.cipher.openJson(principal, placeOf(tenant, id, 'principal')) as Principal,
      work: this.cipher.openJson(work, placeOf(tenant, id, 'work')) as ScheduledWork,
      isActive: isActive === 1,
    };
  }

  private seal(tenant: string, id: string, work: ScheduledWork): string {
    return this.cipher.seal(JSON.stringify(work), placeOf(tenant, id, 'work'));
  }
}
