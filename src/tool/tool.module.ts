import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ToolPolicyRegistry } from './policy/tool-policy.registry.js';
import { ToolMetadataAccessor } from './tool-metadata.accessor.js';
import { ToolExecutor } from './tool.executor.js';
import { ToolExplorer } from './tool.explorer.js';
import { ToolRegistry } from './tool.registry.js';

@Module({
  imports: [DiscoveryModule],
  providers: [ToolMetadataAccessor, ToolExplorer, ToolRegistry, ToolPolicyRegistry, ToolExecutor],
  exports: [ToolRegistry, ToolPolicyRegistry, ToolExecutor],
})
export class ToolModule {}
