import { type DynamicModule, Global, Module } from '@nestjs/common';
import { type AsyncOption, provided } from '../kernel/index.js';
import { ToolModule } from '../tool/index.js';
import { ToolStateModule } from '../tool-state/index.js';
import { DeclaredMcpServers, McpServerLoader } from './declaration/mcp-server.loader.js';
import { McpContent } from './mcp-content.service.js';
import { McpRegistry } from './mcp-server.registry.js';
import { McpServerService } from './mcp-server.service.js';
import { McpServerStore } from './stores/mcp-server.store.js';
import { DatabaseToolPinStore } from './stores/database-tool-pin-store.js';
import { ToolPinStore } from './stores/tool-pin-store.js';
import { ToolTrust } from './trust/tool-trust.service.js';

/** MCP servers whose tools agents use. */
@Global()
@Module({})
export class McpModule {
  /** @param declared servers in addition to the file, and the selected names; by default all */
  static forRoot(declared: DeclaredMcpServers | AsyncOption<DeclaredMcpServers>): DynamicModule {
    return {
      module: McpModule,
      imports: [ToolModule, ToolStateModule],
      providers: [
        provided(DeclaredMcpServers, declared),
        { provide: ToolPinStore, useClass: DatabaseToolPinStore },
        ToolTrust,
        McpRegistry,
        McpServerStore,
        McpServerLoader,
        McpServerService,
        McpContent,
      ],
      exports: [McpRegistry, McpServerService, McpContent],
    };
  }
}
