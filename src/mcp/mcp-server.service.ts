import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { AppError, canonicalJson, messageOf, RecurringWork, type Principal } from '../common/index.js';
import { AppConfig } from '../config/index.js';
import type { ConnectedServer } from './connected-server.service.js';
import { duplicate } from './declaration/mcp-declarations.registry.js';
import type { McpConfig, McpServerConfig } from './declaration/mcp-config.types.js';
import { parseMcpConfig, parseMcpEntry } from './declaration/mcp-declaration.schema.js';
import { McpRegistry } from './mcp-server.registry.js';
import type { McpServer } from './mcp-server.types.js';
import { type AddedServer, McpServerStore } from './stores/mcp-server.store.js';
import type { ToolPin } from './stores/tool-pin-store.js';
import { ToolTrust } from './trust/tool-trust.service.js';

/** How soon other processes know of a server that was added and of a tool that was accepted, in ms. */
const SYNC_MS = 30_000;
/** Where servers were declared that were added over REST. */
const REST_SOURCE = 'REST';

/** What people do with servers: look at them, add and remove them, and accept what their tools have become. */
@Injectable()
export class McpServerService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('McpServers');
  private readonly syncing = new RecurringWork({
    work: () => this.sync(),
    onFailure: (error) => this.logger.warn(`MCP servers of other processes cannot be read: ${messageOf(error)}`),
    retryMs: SYNC_MS,
  });

  constructor(
    private readonly config: AppConfig,
    private readonly registry: McpRegistry,
    private readonly store: McpServerStore,
    private readonly trust: ToolTrust,
  ) {}

  /** Takes up what was added over REST, now and whenever another process has done so. */
  async onApplicationBootstrap(): Promise<void> {
    if (!this.config.mcp.isRestOpen && this.registry.list().length === 0) return;
    await this.takeUpAdded();
    this.syncing.start(SYNC_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.syncing.stop();
  }

  list(): readonly ConnectedServer[] {
    return this.registry.list();
  }

  /** @throws AppError `MCP_SERVER_NOT_FOUND` */
  get(name: string): ConnectedServer {
    return this.registry.get(name);
  }

  /** The tools of a server that wait to be accepted, with what they were. */
  async heldOf(name: string): Promise<readonly ToolPin[]> {
    const held = new Set(this.registry.get(name).quarantined.map(({ tool }) => tool));
    return (await this.trust.pinsOf(name)).filter(({ tool, pending }) => pending !== null && held.has(tool));
  }

  /**
   * Adds a server of HTTP.
   * @throws AppError `MCP_REGISTRATION_CLOSED`, `MCP_SERVER_INVALID`, `MCP_SERVER_DUPLICATE`
   */
  async add({ id }: Principal, name: string, declaration: object): Promise<ConnectedServer> {
    const server = this.parse(name, declaration);
    this.assertOpen();
    const other = this.registry.has(name) ? this.registry.get(name).server.source : undefined;
    if (other !== undefined || !(await this.store.add({ name, declaration, createdBy: id }))) {
      throw duplicate(name, REST_SOURCE, other);
    }
    return this.registry.add(server);
  }

  /** Takes up a server that a part of the application declares. @throws AppError `MCP_SERVER_INVALID`, `MCP_SERVER_DUPLICATE` */
  declare(given: McpConfig, source: string): ConnectedServer {
    return this.registry.add(parseMcpConfig(given, source, this.config.mcp));
  }

  /**
   * Takes up a server in code, for this process, and waits until it is connected to.
   * @throws AppError `MCP_SERVER_INVALID`, `MCP_SERVER_DUPLICATE`; McpError when it cannot be connected to: it is let go then
   */
  async connect(name: string, declaration: McpServerConfig): Promise<ConnectedServer> {
    const source = `connectMcpServer(${JSON.stringify(name)})`;
    const server = this.registry.add(parseMcpEntry(name, declaration, source, this.config.mcp));
    try {
      await server.offered();
      return server;
    } catch (error) {
      await this.registry.remove(name);
      throw error;
    }
  }

  /**
   * Removes a server that was added over REST, and all that was accepted of it.
   * @throws AppError `MCP_SERVER_NOT_FOUND`; `MCP_REGISTRATION_CLOSED` for one that is declared elsewhere
   */
  async remove(name: string): Promise<void> {
    const { source, origin } = this.registry.get(name).server;
    if (origin !== 'rest') {
      throw new AppError('MCP_REGISTRATION_CLOSED', `MCP server "${name}" is declared in ${source}: remove it there.`);
    }
    await this.store.remove(name);
    await this.registry.remove(name);
    await this.trust.forget(name);
  }

  /** Tries at once to connect to a server. @throws AppError `MCP_SERVER_NOT_FOUND`, `MCP_SERVER_DISABLED` */
  reconnect(name: string): void {
    const connected = this.registry.get(name);
    connected.assertEnabled();
    connected.connection.retryNow();
  }

  /** Lets a tool be used as it is now. @throws AppError `MCP_SERVER_NOT_FOUND`, `TOOL_NOT_FOUND`, `COMMIT_REFUSED` */
  async accept(principal: Principal, name: string, tool: string, digest: string): Promise<void> {
    const server = this.registry.get(name);
    await this.trust.accept(name, tool, digest, principal);
    await server.refresh();
  }

  /** Takes up what other processes have done; no server is waited for. Gives in how many ms that is to be done again. */
  async sync(): Promise<number> {
    for (const server of this.registry.list()) if (server.quarantined.length > 0) void server.refresh();
    await this.takeUpAdded();
    return SYNC_MS;
  }

  private async takeUpAdded(): Promise<void> {
    if (!this.config.mcp.isRestOpen) return;
    const added = (await this.store.list()).flatMap((one) => this.usable(one));
    for (const { server } of this.registry.list()) {
      if (server.origin !== 'rest') continue;
      const isStill = added.some((one) => canonicalJson(one) === canonicalJson(server));
      if (!isStill) await this.registry.remove(server.name);
    }
    for (const server of added) if (!this.registry.has(server.name)) this.registry.add(server);
  }

  /** One that this process does not take keeps it from nothing else. */
  private usable({ name, declaration }: AddedServer): McpServer[] {
    try {
      return [this.parse(name, declaration as object)];
    } catch (error) {
      this.logger.warn(`MCP server "${name}" was added over REST and cannot be used: ${messageOf(error)}`);
      return [];
    }
  }

  private parse(name: string, declaration: object): McpServer {
    const source = `${REST_SOURCE}: ${JSON.stringify(name)}`;
    return { ...parseMcpEntry(name, declaration, source, this.config.mcp), origin: 'rest' };
  }

  private assertOpen(): void {
    if (this.config.mcp.isRestOpen) return;
    const message = 'MCP servers are not added over REST here: an operator can allow it with MCP_REST_REGISTRATION.';
    throw new AppError('MCP_REGISTRATION_CLOSED', message);
  }
}
