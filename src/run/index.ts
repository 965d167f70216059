/** A run is a journal: one execution of anything, in steps that happen once, told in numbered events. */
import { RunDefinitionEntity } from './entities/run-definition.entity.js';
import { RunEventEntity } from './entities/run-event.entity.js';
import { RunStepEntity } from './entities/run-step.entity.js';
import { RunEntity } from './entities/run.entity.js';
import { CreateRun1764000000000 } from './migrations/1764000000000-create-run.migration.js';

export { RunContext } from './run-context.js';
export type { StepName } from './run-context.js';
export { NO_USAGE } from './run-event.types.js';
export type {
  JournaledEvent,
  LiveEvent,
  RunEvent,
  RunFailure,
  RunFinishReason,
  RunResult,
  RunUsage,
  TerminalEvent,
  ToolStarted,
  UnknownCall,
} from './run-event.types.js';
export { isGivenUp } from './given-up.policy.js';
export { MemoryRunContext } from './memory-run-context.js';
export { RunItem } from './run-item.factory.js';
export { RunFollowService } from './run-follow.service.js';
export type { Following } from './run-follow.service.js';
export { RunHandlerRegistry } from './run-handler.registry.js';
export type { RunHandler } from './run-handler.registry.js';
export { RunModule } from './run.module.js';
export { RunService } from './run.service.js';
export type { RunHandle } from './run.service.js';
export type { RunOutcome, RunRecord, RunStatus, StartRun } from './run.types.js';

export const RUN_ENTITIES = [RunEntity, RunStepEntity, RunEventEntity, RunDefinitionEntity];
export const RUN_MIGRATIONS = [CreateRun1764000000000];
