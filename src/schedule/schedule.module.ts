import { Module } from '@nestjs/common';
import { RunModule } from '../run/index.js';
import { TelemetryModule } from '../telemetry/index.js';
import { ScheduleRunner } from './schedule-runner.js';
import { ScheduledRunService } from './scheduled-run.service.js';
import { ScheduleService } from './schedule.service.js';
import { ScheduleStore } from './schedule.store.js';

@Module({
  imports: [TelemetryModule, RunModule],
  providers: [ScheduleStore, ScheduledRunService, ScheduleRunner, ScheduleService],
  exports: [ScheduleService],
})
export class ScheduleModule {}
