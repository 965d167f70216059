/** Scheduled runs: of an agent or a workflow, by a cron expression or at a time, each time exactly once. */
import { CreateRunSchedule1764000000045 } from './migrations/1764000000045-create-run-schedule.migration.js';
import { ScheduleEntity } from './schedule.store.js';

export { ScheduleModule } from './schedule.module.js';
export { ScheduleService } from './schedule.service.js';
export type { NewSchedule, ScheduleChanges } from './schedule.service.js';
export { MISSED_POLICIES, OVERLAP_POLICIES, SCHEDULE_SEALED_TABLES } from './schedule.store.js';
export type { MissedPolicy, OverlapPolicy, Schedule, ScheduledWork } from './schedule.store.js';

export const SCHEDULE_ENTITIES = [ScheduleEntity];
export const SCHEDULE_MIGRATIONS = [CreateRunSchedule1764000000045];
