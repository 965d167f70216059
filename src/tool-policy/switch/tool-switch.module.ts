import { Global, Module } from '@nestjs/common';
import { ToolModule } from '../../tool/index.js';
import { ToolSwitch } from '../../tool/decision/index.js';
import { DisabledToolStore, ToolSwitchService } from './tool-switch.service.js';

/** Enables and disables tools per tenant; requires a database. */
@Global()
@Module({
  imports: [ToolModule],
  providers: [DisabledToolStore, ToolSwitchService, { provide: ToolSwitch, useExisting: ToolSwitchService }],
  exports: [ToolSwitchService, ToolSwitch],
})
export class ToolSwitchModule {}
