import { Logger } from '@nestjs/common';
import { AppError, messageOf } from '../common/index.js';
import type { Tool, ToolContext, ToolRegistry, ToolStates } from '../tool/index.js';
import { LiveCalls } from './call/live-calls.registry.js';
import type { CallChannel } from './call/mcp-call.executor.js';
import {
  McpConnection,
  type McpConnectionListeners,
  type McpConnectionState,
} from './connection/mcp-connection.client.js';
import type { McpWorld, OpenedClient } from './connection/opened-client.factory.js';
import { SessionConnections } from './connection/session-connections.registry.js';
import { McpError } from './mcp.error.js';
import type { McpServer } from './mcp-server.types.js';
import { contentToolsOf } from './tool/content-tool.factory.js';
import { ServerTools } from './tool/server-tools.registry.js';
import { listTools } from './tool/tool-list.loader.js';
import type { QuarantinedTool, ToolTrust } from './trust/tool-trust.service.js';

/** Maximum time that runs wait for the tools of a server before its first connection, in ms. */
const FIRST_TRY_MS = 10_000;

/** Dependencies of a server. */
export interface ServerSurroundings {
  readonly world: McpWorld;
  readonly registry: ToolRegistry;
  readonly trust: ToolTrust;
  readonly states: ToolStates;
}

/** One server: its connections and its tools. */
export class ConnectedServer {
  /** Tools hidden from every model. @internal */
  quarantined: readonly QuarantinedTool[] = [];
  /** @internal */
  readonly tools: ServerTools;
  private readonly logger = new Logger('McpServer');
  /** The connection that lists the tools, and calls them unless the server is stateful. */
  private readonly shared: CallChannel;
  private readonly sessions: SessionConnections;
  private readonly unsubscribe: () => void;
  /** The client, while the server is connected. */
  private opened: OpenedClient | null = null;
  private reading: Promise<void> = Promise.resolve();

  constructor(
    readonly server: McpServer,
    private readonly surroundings: ServerSurroundings,
  ) {
    const { registry, states } = surroundings;
    this.tools = new ServerTools(server, registry, (name, context) => this.channelOf(name, context));
    this.shared = this.newChannel({
      connected: async (opened, signal) => {
        this.open(opened);
        await this.readTools(opened, signal);
      },
      toolsChanged: () => void this.refresh(),
    });
    this.sessions = new SessionConnections(() => {
      const channel = this.newChannel({ connected: async () => undefined });
      channel.connection.start();
      return channel;
    });
    this.unsubscribe = states.onClosed((contextId) => this.sessions.released(contextId));
  }

  /** @internal */
  get connection(): McpConnection {
    return this.shared.connection;
  }

  get state(): McpConnectionState {
    return this.server.isEnabled ? this.connection.state : { status: 'disabled', since: 0, connects: 0 };
  }

  /** Number of sessions with a connection of their own. */
  get sessionCount(): number {
    return this.sessions.size;
  }

  /**
   * Its present tools; waits for a pending connection.
   * @throws AppError `MCP_SERVER_DISABLED`; McpError if it is not connected
   */
  async offered(): Promise<readonly Tool[]> {
    this.assertEnabled();
    await this.connection.use(async () => undefined, new AbortController().signal);
    const { registry } = this.surroundings;
    return this.tools.names.map((tool) => registry.get(tool));
  }

  /** The states of its tools. @internal */
  get states(): ToolStates {
    return this.surroundings.states;
  }

  /** @throws AppError `MCP_SERVER_DISABLED` */
  assertEnabled(): void {
    const { name, isEnabled, source } = this.server;
    if (isEnabled) return;
    const message = `MCP server "${name}" is disabled: enable it in ${source}.`;
    throw new AppError('MCP_SERVER_DISABLED', message, { details: { server: name } });
  }

  /** Announces its tools. Only runs that start now wait for them, for at most `FIRST_TRY_MS`. */
  announce(): void {
    this.tools.announce(this.firstTry());
  }

  /** Closes its connections and removes its tools. */
  async close(): Promise<void> {
    this.unsubscribe();
    this.tools.close();
    this.shared.live.close();
    await Promise.all([this.connection.close(), this.sessions.closeAll()]);
    await this.reading;
  }

  /** Reads the tools again, after a pending read; never throws. */
  async refresh(): Promise<void> {
    if (!this.opened) return;
    try {
      await this.readTools(this.opened, new AbortController().signal);
    } catch (error) {
      this.logger.warn(`Failed to list the tools of MCP server "${this.server.name}": ${messageOf(error)}`);
    }
  }

  private async firstTry(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, FIRST_TRY_MS).unref();
    void this.connection.until(({ status }) => status !== 'connecting').then(resolve);
    await promise.finally(() => clearTimeout(timer));
  }

  private open(opened: OpenedClient): void {
    this.opened = opened;
    void opened.ended.finally(() => {
      if (this.opened === opened) this.opened = null;
    });
  }

  private newChannel(listeners: Omit<McpConnectionListeners, 'elicited'>): CallChannel {
    const live = new LiveCalls();
    const elicited: McpConnectionListeners['elicited'] = (params, signal) => live.elicited(params, signal);
    const { world } = this.surroundings;
    return { live, connection: new McpConnection(this.server, world, { ...listeners, elicited }) };
  }

  /** A run can still reference a tool that was removed. */
  private channelOf(name: string, context: ToolContext): CallChannel {
    if (!this.tools.has(name)) {
      const message = `Tool "${name}" of MCP server "${this.server.name}" was removed, or is in quarantine until an operator accepts it.`;
      throw new McpError('TOOL_NOT_FOUND', message, { server: this.server.name, tool: name });
    }
    return this.server.isStateful ? this.sessions.channelOf(context) : this.shared;
  }

  /** Serialises reads of the tool list. */
  private async readTools(opened: OpenedClient, signal: AbortSignal): Promise<void> {
    const before = this.reading;
    const read = (async () => {
      await before;
      await this.readToolsNow(opened, signal);
    })();
    this.reading = read.catch(() => undefined);
    await read;
  }

  /** Registers only tools that passed the trust check. After the end of a connection the SDK lists no tools. */
  private async readToolsNow(opened: OpenedClient, signal: AbortSignal): Promise<void> {
    if (this.opened !== opened) return;
    const { trust } = this.surroundings;
    const { accepted, quarantined } = await trust.judge(this.server.name, await listTools(opened, signal));
    if (signal.aborted || this.opened !== opened) return;
    this.quarantined = quarantined;
    this.tools.replace(accepted, contentToolsOf(opened.client.getServerCapabilities() ?? {}));
  }
}
