import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { CacheModule } from '../cache/index.js';
import { MethodHandlerFactory } from './method/method-handler.factory.js';
import { ToolPolicyRegistry } from './policy/tool-policy.registry.js';
import { ToolMetadataAccessor } from './method/tool-metadata.accessor.js';
import { ToolExecutor } from './tool.executor.js';
import { ToolExplorer } from './method/tool.explorer.js';
import { ContextClosings } from './state/context-closing.registry.js';
import { StateBackendRegistry } from './state/state-backend.registry.js';
import { StatefulToolSessions } from './state/stateful-tool-sessions.service.js';
import { ToolStates } from './state/tool-states.service.js';
import { ToolRegistry } from './tool.registry.js';

@Module({
  imports: [DiscoveryModule, CacheModule],
  providers: [
    ToolMetadataAccessor,
    MethodHandlerFactory,
    ToolExplorer,
    ToolRegistry,
    ToolPolicyRegistry,
    ToolExecutor,
    ContextClosings,
    StateBackendRegistry,
    ToolStates,
    StatefulToolSessions,
  ],
  exports: [
    ToolExplorer,
    ToolRegistry,
    ToolPolicyRegistry,
    ToolExecutor,
    ToolStates,
    StatefulToolSessions,
    StateBackendRegistry,
    ContextClosings,
  ],
})
export class ToolModule {}
