import { Global, Module } from '@nestjs/common';
import { ToolModule } from '../tool/index.js';
import { StatefulCalls } from '../tool/stateful/index.js';
import { ContextClosings } from './context-closings.js';
import { ContextOwners } from './context-owners.store.js';
import { StateBackendRegistry } from './state-backend.registry.js';
import { StatefulToolSessions } from './stateful-tool-sessions.js';
import { ToolStateAdminService } from './tool-state-admin.service.js';
import { ToolStateBackups } from './tool-state-backups.js';
import { ToolStateForks } from './tool-state-forks.js';
import { ToolStateMaintenanceService, UsedBackendService } from './tool-state-maintenance.service.js';
import { ToolStateService } from './tool-state.service.js';
import { ToolStates } from './tool-states.js';

/** States of stateful tools; requires a database. Global, because the tool module resolves its port here. */
@Global()
@Module({
  imports: [ToolModule],
  providers: [
    ContextClosings,
    ContextOwners,
    StateBackendRegistry,
    ToolStates,
    { provide: StatefulCalls, useExisting: ToolStates },
    StatefulToolSessions,
    UsedBackendService,
    ToolStateAdminService,
    ToolStateForks,
    ToolStateMaintenanceService,
    ToolStateBackups,
    ToolStateService,
  ],
  exports: [
    ContextClosings,
    StateBackendRegistry,
    ToolStates,
    StatefulCalls,
    StatefulToolSessions,
    ToolStateAdminService,
    ToolStateForks,
    ToolStateBackups,
    ToolStateService,
  ],
})
export class ToolStateModule {}
