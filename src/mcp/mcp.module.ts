import { type DynamicModule, Module } from '@nestjs/common';
import { ToolModule } from '../tool/index.js';
import type { McpConfig } from './declaration/mcp-config.types.js';
import { DeclaredMcpServers, McpServerLoader } from './declaration/mcp-server.loader.js';
import { McpRegistry } from './mcp-server.registry.js';

/** MCP servers whose tools agents use. */
@Module({})
export class McpModule {
  /** @param servers that the application declares, beside those of the file */
  static forRoot(servers: readonly McpConfig[] = []): DynamicModule {
    return {
      module: McpModule,
      imports: [ToolModule],
      providers: [{ provide: DeclaredMcpServers, useValue: { servers } }, McpRegistry, McpServerLoader],
      exports: [McpRegistry],
    };
  }
}
