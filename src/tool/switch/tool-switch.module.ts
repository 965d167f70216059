import { Global, Module } from '@nestjs/common';
import { ToolModule } from '../tool.module.js';
import { DisabledToolStore } from './disabled-tool.store.js';
import { ToolSwitchService } from './tool-switch.service.js';

/** The switches of tools, where there is a database to keep them in. */
@Global()
@Module({
  imports: [ToolModule],
  providers: [DisabledToolStore, ToolSwitchService],
  exports: [ToolSwitchService],
})
export class ToolSwitchModule {}
