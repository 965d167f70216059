import { Module, type OnModuleInit } from '@nestjs/common';
import { UserErasureService } from '../agent/index.js';
import { DueRunService, RunModule } from '../run/index.js';
import { RunPauseService } from '../run/decision/index.js';
import { TelemetryModule } from '../telemetry/index.js';
import { ScheduledRunService } from './scheduled-run.service.js';
import { ScheduleRunner } from './schedule-runner.js';
import { ScheduleService } from './schedule.service.js';
import { DISABLE_SCHEDULES, ScheduleStore } from './schedule.store.js';

@Module({
  imports: [TelemetryModule, RunModule],
  providers: [ScheduleStore, ScheduledRunService, ScheduleRunner, ScheduleService],
  exports: [ScheduleService],
})
export class ScheduleModule implements OnModuleInit {
  constructor(
    private readonly store: ScheduleStore,
    private readonly runner: ScheduleRunner,
    private readonly pause: RunPauseService,
    private readonly due: DueRunService,
    private readonly erasures: UserErasureService,
  ) {}

  onModuleInit(): void {
    this.pause.alsoOnCopy(DISABLE_SCHEDULES);
    this.due.also(() => this.runner.handleDue());
    this.erasures.also((tenant, userId) => this.store.eraseUser(tenant, userId));
  }
}
