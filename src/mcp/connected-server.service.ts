import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { Logger } from '@nestjs/common';
import { messageOf } from '../common/index.js';
import type { ToolRegistry } from '../tool/index.js';
import { McpConnection, type McpConnectionState } from './connection/mcp-connection.client.js';
import type { McpWorld, OpenedClient } from './connection/opened-client.factory.js';
import type { McpServer } from './mcp-server.types.js';
import { ServerTools } from './tool/server-tools.registry.js';
import { listTools } from './tool/tool-list.loader.js';

/** One server: its connection, and the tools that it gives. */
export class ConnectedServer {
  private readonly logger = new Logger('McpServer');
  readonly connection: McpConnection;
  readonly tools: ServerTools;
  private opened: OpenedClient | null = null;

  constructor(
    readonly server: McpServer,
    world: McpWorld,
    registry: ToolRegistry,
    authProvider?: OAuthClientProvider,
  ) {
    this.tools = new ServerTools(server, registry, () => this.connection);
    this.connection = new McpConnection(
      server,
      world,
      {
        connected: async (opened, signal) => {
          this.opened = opened;
          this.tools.replace(await listTools(opened, signal));
        },
        toolsChanged: () => void this.refresh(),
        elicited: async () => ({ action: 'cancel' }),
      },
      authProvider,
    );
  }

  get state(): McpConnectionState {
    return this.server.isEnabled ? this.connection.state : { status: 'disabled', since: 0, connects: 0 };
  }

  start(): void {
    this.tools.announce();
    this.connection.start();
  }

  async close(): Promise<void> {
    this.tools.replace([]);
    await this.connection.close();
  }

  /** Reads the tools anew. */
  private async refresh(): Promise<void> {
    if (!this.opened) return;
    try {
      this.tools.replace(await listTools(this.opened, new AbortController().signal));
    } catch (error) {
      this.logger.warn(`The tools of MCP server "${this.server.name}" cannot be read: ${messageOf(error)}`);
    }
  }
}
