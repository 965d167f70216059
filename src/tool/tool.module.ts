import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { CacheModule } from '../cache/index.js';
import { schemaChecker } from './bounded/schema-checker.js';
import { GlobalEnhancers } from './method/global-enhancers.js';
import { MethodHandlerFactory } from './method/method-handler.factory.js';
import { ToolPolicyRegistry } from './decision/tool-policy.js';
import { ToolMetadataAccessor } from './method/tool-metadata.accessor.js';
import { ToolExecutor } from './tool.executor.js';
import { ToolExplorer } from './method/tool.explorer.js';
import { ToolRegistry } from './tool.registry.js';

/** Discovery, registry and executor of tools. */
@Module({
  imports: [DiscoveryModule, CacheModule],
  providers: [
    ToolMetadataAccessor,
    GlobalEnhancers,
    MethodHandlerFactory,
    ToolExplorer,
    ToolRegistry,
    ToolPolicyRegistry,
    ToolExecutor,
  ],
  exports: [ToolExplorer, ToolRegistry, ToolPolicyRegistry, ToolExecutor],
})
export class ToolModule implements OnApplicationShutdown {
  onApplicationShutdown(): void {
    schemaChecker.release();
  }
}
