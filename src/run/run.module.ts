import { Module } from '@nestjs/common';
import { LocalRunBus } from './local/local-run-bus.js';
import { LocalRunDispatcher } from './local/local-run-dispatcher.js';
import { RunBus } from './run-bus.js';
import { RunDispatcher } from './run-dispatcher.js';
import { RunExecutor } from './run.executor.js';
import { RunFollowService } from './run-follow.service.js';
import { RunHandlerRegistry } from './run-handler.registry.js';
import { RunJournal } from './run-journal.js';
import { RunService } from './run.service.js';

@Module({
  providers: [
    RunJournal,
    RunHandlerRegistry,
    RunExecutor,
    RunService,
    RunFollowService,
    { provide: RunBus, useClass: LocalRunBus },
    { provide: RunDispatcher, useClass: LocalRunDispatcher },
  ],
  exports: [RunHandlerRegistry, RunService, RunFollowService],
})
export class RunModule {}
