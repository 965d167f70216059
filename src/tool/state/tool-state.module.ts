import { Module } from '@nestjs/common';
import { SealedTableRegistry } from '../../security/index.js';
import { ToolModule } from '../tool.module.js';
import { ToolStateUpkeep } from './tool-state-upkeep.service.js';
import { ToolStateBackups } from './tool-state-backup.service.js';
import { ToolStateForks } from './tool-state-fork.service.js';
import { ToolStateKeeper } from './tool-state-keeper.service.js';
import { UsedStateHomes } from './used-home.service.js';
import { TOOL_STATE_SEALED_TABLES } from './stores/state-place.factory.js';

/** Services for tool states that require a database. */
@Module({
  imports: [ToolModule],
  providers: [UsedStateHomes, ToolStateKeeper, ToolStateForks, ToolStateUpkeep, ToolStateBackups],
  exports: [ToolStateKeeper, ToolStateForks, ToolStateBackups],
})
export class ToolStateModule {
  constructor(tables: SealedTableRegistry) {
    tables.register(TOOL_STATE_SEALED_TABLES);
  }
}
