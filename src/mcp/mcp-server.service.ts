import { Inject, type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { AppError, Log, messageOf } from '../errors/index.js';
import { RecurringWork, type Principal } from '../kernel/index.js';
import { canonicalJson } from '../kernel/json/index.js';
import { mcpConfig, type McpClientConfig } from '../config/namespaces/index.js';
import type { ConnectedServer } from './connected-server.service.js';
import { duplicate, McpRegistry } from './mcp-server.registry.js';
import type { McpConfig, McpServerConfig } from './declaration/mcp-config.types.js';
import { parseMcpConfig, parseMcpEntry } from './declaration/mcp-declaration.schema.js';
import type { McpServer } from './mcp-server.types.js';
import { type AddedServer, McpServerStore } from './stores/mcp-server.store.js';
import type { McpToolsChanged } from './trust/definition-changes.js';
import { ToolTrust, type WaitingTools } from './trust/tool-trust.service.js';

/** Interval at which a process reads servers added and tools accepted by other processes, in ms. */
const SYNC_MS = 30_000;
/** Source of servers added over REST. */
const REST_SOURCE = 'REST';

/** Administration of servers: list, add and remove them, and accept changed tools. */
@Injectable()
export class McpServerService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Log('McpServers');
  private readonly syncing = new RecurringWork({
    work: () => this.sync(),
    onFailure: (error) => this.logger.warn(`Failed to read the MCP servers of other processes: ${messageOf(error)}`),
    retryMs: SYNC_MS,
  });

  constructor(
    @Inject(mcpConfig.KEY) private readonly config: McpClientConfig,
    private readonly registry: McpRegistry,
    private readonly store: McpServerStore,
    private readonly trust: ToolTrust,
  ) {}

  /** Registers the servers added over REST, now and after changes by other processes. */
  async onApplicationBootstrap(): Promise<void> {
    if (!this.config.isRestOpen && this.registry.list().length === 0) return;
    await this.store.onceOpen(async () => {
      if (this.syncing.isStopping) return;
      await this.applyAdded();
      this.syncing.start(SYNC_MS);
    });
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

  /** Tools of a server whose definitions or annotations wait for a person. */
  async waitingOf(name: string): Promise<WaitingTools> {
    const { quarantined, heldHints } = this.registry.get(name);
    return this.trust.waiting(name, new Set([...quarantined.map(({ tool }) => tool), ...heldHints]));
  }

  /** @param listener called with each change of a server's definitions; its errors are logged */
  onToolsChanged(listener: (change: McpToolsChanged) => unknown): () => void {
    return this.trust.changes.listen(listener);
  }

  /**
   * Adds an HTTP server.
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

  /**
   * Registers a server declared by a module of the application. @throws AppError `MCP_SERVER_INVALID`,
   * `MCP_SERVER_DUPLICATE`
   */
  declare(options: McpConfig, source: string): ConnectedServer {
    return this.registry.add(parseMcpConfig(options, source, this.config));
  }

  /**
   * Registers a server from code, in this process only, and waits for the connection.
   * @throws AppError `MCP_SERVER_INVALID`, `MCP_SERVER_DUPLICATE`; McpError if the connection fails: the server is then
   *   removed
   */
  async connect(name: string, declaration: McpServerConfig): Promise<ConnectedServer> {
    const source = `connectMcpServer(${JSON.stringify(name)})`;
    const server = this.registry.add(parseMcpEntry(name, declaration, source, this.config));
    try {
      await server.offered();
      return server;
    } catch (error) {
      await this.registry.remove(name);
      throw error;
    }
  }

  /**
   * Removes a server that was added over REST, and the accepted definitions of its tools.
   * @throws AppError `MCP_SERVER_NOT_FOUND`; `MCP_REGISTRATION_CLOSED` for a server declared elsewhere
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

  /** Reconnects to a server at once. @throws AppError `MCP_SERVER_NOT_FOUND`, `MCP_SERVER_DISABLED` */
  reconnect(name: string): void {
    const connected = this.registry.get(name);
    connected.assertEnabled();
    connected.connection.retryNow();
  }

  /**
   * Accepts the present definition of a tool. @throws AppError `MCP_SERVER_NOT_FOUND`, `TOOL_NOT_FOUND`,
   * `COMMIT_REFUSED`
   */
  async accept(principal: Principal, name: string, tool: string, digest: string): Promise<void> {
    const server = this.registry.get(name);
    await this.trust.accept(name, tool, digest, principal);
    await server.refresh();
  }

  /**
   * Accepts all waiting definitions and annotations of a server. @param digest of the reviewed ones; by default the
   * present ones are accepted
   * @throws AppError `MCP_SERVER_NOT_FOUND`, `COMMIT_REFUSED`
   */
  async acceptAll(principal: Principal, name: string, digest?: string): Promise<WaitingTools> {
    const server = this.registry.get(name);
    const waiting = await this.waitingOf(name);
    await this.trust.acceptAll(name, waiting, digest, principal);
    await server.refresh();
    return waiting;
  }

  /** Applies the changes of other processes, without waiting for connections. @returns ms until the next round */
  async sync(): Promise<number> {
    for (const server of this.registry.list())
      if (server.quarantined.length + server.heldHints.length > 0) void server.refresh();
    await this.applyAdded();
    return SYNC_MS;
  }

  private async applyAdded(): Promise<void> {
    if (!this.config.isRestOpen) return;
    const added = (await this.store.list()).flatMap((one) => this.usable(one));
    for (const { server } of this.registry.list()) {
      if (server.origin !== 'rest') continue;
      const isStill = added.some((one) => canonicalJson(one) === canonicalJson(server));
      if (!isStill) await this.registry.remove(server.name);
    }
    for (const server of added) if (!this.registry.has(server.name)) this.registry.add(server);
  }

  /** Skips a server that is invalid in this process, with a warning. */
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
    // Hints of a server that was added over REST must be believed explicitly.
    const hints = 'trusted' in declaration ? {} : { hints: 'ignore' };
    return { ...parseMcpEntry(name, { ...hints, ...declaration }, source, this.config), origin: 'rest' };
  }

  private assertOpen(): void {
    if (this.config.isRestOpen) return;
    const message = 'Adding MCP servers over REST is disabled: an operator can enable it with MCP_REST_REGISTRATION.';
    throw new AppError('MCP_REGISTRATION_CLOSED', message);
  }
}
