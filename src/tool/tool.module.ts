import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ToolMetadataAccessor } from './tool-metadata.accessor.js';
import { ToolExecutor } from './tool.executor.js';
import { ToolExplorer } from './tool.explorer.js';
import { ToolRegistry } from './tool.registry.js';

@Module({
  imports: [DiscoveryModule],
  providers: [ToolMetadataAccessor, ToolExplorer, ToolRegistry, ToolExecutor],
  exports: [ToolRegistry, ToolExecutor],
})
export class ToolModule {}
