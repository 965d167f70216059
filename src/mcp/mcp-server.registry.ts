import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { AppConfig } from '../config/index.js';
import { ToolRegistry, ToolStates } from '../tool/index.js';
import { ChildLedger } from './process/child-ledger.store.js';
import { ConnectedServer } from './connected-server.service.js';
import { duplicate, unknownServer } from './declaration/mcp-declarations.registry.js';
import type { McpServer } from './mcp-server.types.js';
import { ToolTrust } from './trust/tool-trust.service.js';

/** How long after the start connections begin, in ms: twenty servers take as long to start as all else. */
const BEGIN_MS = 50;

/** Owns the servers that agents use tools of: each is connected to in the background, and closed with the application. */
@Injectable()
export class McpRegistry implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  private readonly logger = new Logger('McpRegistry');
  private readonly servers = new Map<string, ConnectedServer>();
  private readonly ledger: ChildLedger;
  private hasBegun = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly config: AppConfig,
    private readonly tools: ToolRegistry,
    private readonly trust: ToolTrust,
    private readonly states: ToolStates,
  ) {
    this.ledger = new ChildLedger(config.dataDir);
  }

  /** Ends the programs that an earlier process has left. */
  reap(): void {
    const ended = this.ledger.reap();
    if (ended > 0) this.logger.warn(`Ended ${ended} MCP servers that an earlier process had left running`);
  }

  /** The start has all the time for itself: connections begin when it is over. A registry without an application is told. */
  onApplicationBootstrap(): void {
    this.timer = setTimeout(() => this.begin(), BEGIN_MS);
  }

  /** Begins to connect to the servers that were taken up, and at once to those that will be. */
  begin(): void {
    this.hasBegun = true;
    for (const { server, connection } of this.list()) if (server.isEnabled) connection.start();
  }

  /**
   * Takes a server up, to be connected to if it is enabled.
   * @throws AppError `MCP_SERVER_DUPLICATE`
   */
  add(server: McpServer): ConnectedServer {
    const other = this.servers.get(server.name);
    if (other) throw duplicate(server.name, server.source, other.server.source);
    const { config, ledger, tools: registry, trust, states } = this;
    const connected = new ConnectedServer(server, {
      world: { config, ledger },
      registry,
      trust,
      states,
    });
    this.servers.set(server.name, connected);
    if (server.isEnabled) connected.announce();
    if (server.isEnabled && this.hasBegun) connected.connection.start();
    return connected;
  }

  /** Lets a server go, and its tools. @throws AppError `MCP_SERVER_NOT_FOUND` */
  async remove(name: string): Promise<void> {
    const server = this.get(name);
    this.servers.delete(name);
    await server.close();
  }

  has(name: string): boolean {
    return this.servers.has(name);
  }

  /** @throws AppError `MCP_SERVER_NOT_FOUND` */
  get(name: string): ConnectedServer {
    const server = this.servers.get(name);
    if (server) return server;
    throw unknownServer(name, [...this.servers.keys()]);
  }

  /** In the order in which they were taken up. */
  list(): readonly ConnectedServer[] {
    return [...this.servers.values()];
  }

  /** While runs end, no further server is connected to. */
  onModuleDestroy(): void {
    clearTimeout(this.timer);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.list().map((server) => server.close()));
  }
}
