import { AppError } from '../errors/index.js';
import { fieldMistake } from '../kernel/index.js';
import type { NewSchedule, Schedule, ScheduleChanges, ScheduledWork } from '../schedule/index.js';
import { toEpochMs } from './is-time.decorator.js';
import type { ScheduleChangeDto, ScheduleDto, ScheduleRequestDto } from './schedule.dto.js';

const UTC = 'UTC';

/** @param defaultAgent name of the default agent. @throws AppError `VALIDATION_FAILED` for fields that exclude each other */
export function toNewSchedule(body: ScheduleRequestDto, defaultAgent: string): NewSchedule {
  const { cron, at, timeZone, overlap = 'skip', missed = 'once' } = body;
  const subject = subjectOf(body, defaultAgent);
  if ((cron === undefined) === (at === undefined)) throw invalid('cron', 'give either cron or at');
  if (subject.kind === 'agent' && body.query === undefined) throw invalid('query', 'an agent needs a query');
  assertTime(at !== undefined, timeZone);
  assertWork(body, subject.kind);
  return {
    work: { ...subject, ...toWork(body) },
    ...toTime(cron, at),
    timeZone: timeZone ?? UTC,
    overlap,
    missed,
  };
}

/** @throws AppError `VALIDATION_FAILED` for fields that exclude each other */
export function toScheduleChanges(body: ScheduleChangeDto, schedule: Schedule): ScheduleChanges {
  const { cron, at, timeZone, overlap, missed, enabled: isActive } = body;
  if (cron !== undefined && at !== undefined) throw invalid('cron', 'give either cron or at');
  const isTimed = cron !== undefined || at !== undefined;
  assertTime(isTimed ? at !== undefined : schedule.at !== null, timeZone);
  assertWork(body, schedule.work.kind);
  const work = toWork(body);
  return {
    ...(isTimed && toTime(cron, at)),
    ...given({ timeZone, overlap, missed, isActive }),
    ...(Object.keys(work).length > 0 && { work }),
  };
}

export function toScheduleView(schedule: Schedule): ScheduleDto {
  const { kind, subject, query, input, sessionId, priority, deadlineMs } = schedule.work;
  return {
    id: schedule.id,
    agent: kind === 'agent' ? subject : null,
    workflow: kind === 'workflow' ? subject : null,
    ...(query !== undefined && { query }),
    ...(input && { input }),
    ...(sessionId !== undefined && { session_id: sessionId }),
    ...(priority !== undefined && { priority }),
    ...(deadlineMs !== undefined && { deadline_ms: deadlineMs }),
    cron: schedule.cron,
    at: schedule.at,
    time_zone: schedule.timeZone,
    overlap: schedule.overlap,
    missed: schedule.missed,
    enabled: schedule.isActive,
    disabled_reason: schedule.disabledReason,
    next_at: schedule.nextAt,
    last_at: schedule.lastAt,
    last_run_id: schedule.lastRunId,
    last_outcome: schedule.lastOutcome,
    last_error: schedule.lastError,
    owner: schedule.principal.id,
    created_at: schedule.createdAt,
  };
}

function subjectOf({ agent, workflow }: ScheduleRequestDto, defaultAgent: string) {
  if (workflow === undefined) return { kind: 'agent', subject: agent ?? defaultAgent } as const;
  if (agent !== undefined) throw invalid('workflow', 'give agent or workflow, not both');
  return { kind: 'workflow', subject: workflow } as const;
}

type WorkFields = Pick<ScheduleRequestDto, 'query' | 'input' | 'priority' | 'deadlineMs'> & {
  readonly sessionId?: string;
};

function toWork({
  query,
  input,
  sessionId,
  priority,
  deadlineMs,
}: WorkFields): Omit<ScheduledWork, 'kind' | 'subject'> {
  return given({ query, input, sessionId, priority, deadlineMs });
}

function toTime(cron: string | undefined, at: string | undefined): Pick<NewSchedule, 'cron' | 'at'> {
  return { cron: cron ?? null, at: at === undefined ? null : toEpochMs(at) };
}

/** The fields with a value. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

function assertTime(isOnce: boolean, timeZone: string | undefined): void {
  if (isOnce && timeZone !== undefined) throw invalid('timeZone', 'timeZone has no effect with at', timeZone);
}

function assertWork({ query, input }: WorkFields, kind: ScheduledWork['kind']): void {
  if (kind === 'agent' && input) throw invalid('input', 'input belongs to a workflow: give query to an agent', input);
  if (kind === 'workflow' && query !== undefined)
    throw invalid('query', 'query belongs to an agent: give input to a workflow', query);
}

function invalid(field: string, fault: string, value?: unknown): AppError {
  return new AppError('VALIDATION_FAILED', `The request is not valid: ${fault}.`, {
    details: { errors: [fieldMistake(field, fault, 'isSchedule', value)] },
  });
}
