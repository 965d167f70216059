import { type DynamicModule, Global, Module, type OnModuleInit } from '@nestjs/common';
import { type AsyncOption, provided } from '../kernel/nest/index.js';
import { MetricRegistry, type Sample, TelemetryModule } from '../telemetry/index.js';
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
export class McpModule implements OnModuleInit {
  constructor(
    private readonly servers: McpRegistry,
    private readonly metrics: MetricRegistry,
  ) {}

  /** @param declared servers in addition to the file, and the selected names; by default all */
  static forRoot(declared: DeclaredMcpServers | AsyncOption<DeclaredMcpServers>): DynamicModule {
    return {
      module: McpModule,
      imports: [TelemetryModule, ToolModule, ToolStateModule],
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
      exports: [McpRegistry, McpServerService, McpContent, ToolPinStore],
    };
  }

  onModuleInit(): void {
    this.metrics.collect(() => {
      const enabled = this.servers.list().filter(({ state }) => state.status !== 'disabled');
      const samples = enabled.map(({ server, state }): Sample => [
        'jackdaw_mcp_server_up',
        state.status === 'ready' ? 1 : 0,
        { server: server.name },
      ]);
      return samples.toSorted((a, b) => a[1] - b[1]);
    });
  }
}
