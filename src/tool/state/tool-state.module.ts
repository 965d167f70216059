import { Module } from '@nestjs/common';
import { SealedTableRegistry } from '../../security/index.js';
import { ToolModule } from '../tool.module.js';
import { ToolStateMaintenanceService } from './tool-state-maintenance.service.js';
import { ToolStateBackups } from './tool-state-backup.service.js';
import { ToolStateForks } from './tool-state-fork.service.js';
import { ToolStateAdminService } from './tool-state-admin.service.js';
import { UsedBackendService } from './used-backend.service.js';
import { TOOL_STATE_SEALED_TABLES } from './stores/state-place.factory.js';

/** Services for tool states that require a database. */
@Module({
  imports: [ToolModule],
  providers: [UsedBackendService, ToolStateAdminService, ToolStateForks, ToolStateMaintenanceService, ToolStateBackups],
  exports: [ToolStateAdminService, ToolStateForks, ToolStateBackups],
})
export class ToolStateModule {
  constructor(tables: SealedTableRegistry) {
    tables.register(TOOL_STATE_SEALED_TABLES);
  }
}
