import { setTimeout as pause } from 'node:timers/promises';
import { AppError, Log, messageOf } from '../errors/index.js';
import type { ToolAnnouncement, ToolRegistry } from '../tool/index.js';
import type { Tool, ToolContext } from '../tool/method/index.js';
import type { ToolStates } from '../tool-state/index.js';
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
import { withinLimits } from './tool/schema-limits.policy.js';
import { ServerTools } from './tool/server-tools.registry.js';
import { listTools } from './tool/tool-list.loader.js';
import type { QuarantinedTool } from './trust/judged-tool.types.js';
import type { ToolTrust } from './trust/tool-trust.service.js';

/** Maximum time that runs wait for the tools of a server before its first connection, or after a change, in ms. */
const FIRST_TRY_MS = 10_000;
/** The same before the first connection, for agents that do not name the server: they have the tools of all servers. */
const SOON_MS = 3000;
/** The same after a change. A server that reports changes again and again must not delay the chats of such agents. */
const CHANGE_SOON_MS = 100;

/** Maximum length of a server's version, in UTF-16 units. */
const MAX_VERSION_LENGTH = 128;

/** Minimum time between two reads of a changed list, in ms. */
const READ_INTERVAL_MS = 200;

/** Dependencies of a server. */
export interface ServerSurroundings {
  readonly world: McpWorld;
  readonly registry: ToolRegistry;
  readonly trust: ToolTrust;
  readonly states: ToolStates;
}

/** One server: its connections and its tools. */
export class ConnectedServer {
  /** Tools whose definitions wait for a person. @internal */
  quarantined: readonly QuarantinedTool[] = [];
  /** Names on the server of tools with annotations that wait for a person. @internal */
  heldHints: readonly string[] = [];
  /** @internal */
  readonly tools: ServerTools;
  private readonly logger = new Log('McpServer');
  /** The connection that lists the tools, and calls them unless the server is stateful. */
  private readonly shared: CallChannel;
  private readonly sessions: SessionConnections;
  private readonly unsubscribe: () => void;
  /** The client, while the server is connected. */
  private opened: OpenedClient | null = null;
  /** Aborted at the end of the client's connection. */
  private ending = new AbortController();
  private reading: Promise<void> = Promise.resolve();
  private arriving: ReturnType<ToolAnnouncement['arriving']> = null;
  /** Whether the list has changed since the start of the last read. */
  private isChanged = false;
  private nextRead = 0;

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
      toolsChanged: () => this.listChanged(),
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
    this.tools.announce({
      isMissing: () => this.state.connects === 0,
      reason: () => this.state.error ?? 'it does not answer',
      arriving: () => this.arriving,
    });
    this.expect(
      this.connection.until(({ status }) => status !== 'connecting'),
      SOON_MS,
    );
  }

  /** Closes its connections and removes its tools. */
  async close(): Promise<void> {
    this.unsubscribe();
    this.ending.abort(new Error('it is closing'));
    this.tools.close();
    this.shared.live.close();
    await Promise.all([this.connection.close(), this.sessions.closeAll()]);
    await this.reading;
  }

  /** Reads the tools again, after a pending read; never throws. */
  async refresh(): Promise<void> {
    const { opened } = this;
    if (!opened) return;
    try {
      await this.readTools(opened, new AbortController().signal);
    } catch (error) {
      if (this.opened !== opened) return;
      this.logger.warn(`Failed to list the tools of MCP server "${this.server.name}": ${messageOf(error)}`);
    }
  }

  /** Runs that start now wait for the work, for at most `soonMs` if their agents do not name the server. */
  private expect(work: Promise<void>, soonMs: number): void {
    const arriving = { first: within(FIRST_TRY_MS, work), soon: within(soonMs, work) };
    this.arriving = arriving;
    void arriving.first.finally(() => {
      if (this.arriving === arriving) this.arriving = null;
    });
  }

  /** A change takes effect in the next run: runs that start now wait for the new list. */
  private listChanged(): void {
    if (this.isChanged) return;
    this.isChanged = true;
    this.expect(this.readChange(), CHANGE_SOON_MS);
  }

  /** Some servers report each of many changes, so reads have a minimum distance. */
  private async readChange(): Promise<void> {
    await pause(Math.max(0, this.nextRead - performance.now()), undefined, { ref: false });
    await this.reading;
    this.isChanged = false;
    this.nextRead = performance.now() + READ_INTERVAL_MS;
    await this.refresh();
  }

  private open(opened: OpenedClient): void {
    const ending = new AbortController();
    this.opened = opened;
    this.ending = ending;
    void opened.ended.finally(() => {
      ending.abort(new Error('its connection has ended'));
      if (this.opened === opened) this.opened = null;
    });
  }

  private newChannel(listeners: Omit<McpConnectionListeners, 'elicited'>): CallChannel {
    const live = new LiveCalls();
    const elicited: McpConnectionListeners['elicited'] = (params, signal) => live.elicited(params, signal);
    const { world } = this.surroundings;
    return { live, connection: new McpConnection(this.server, world, { ...listeners, elicited }) };
  }

  /** A run can still reference a tool that was removed, or is hidden now. */
  private channelOf(name: string, context: ToolContext): CallChannel {
    if (!this.tools.has(name)) {
      const held = this.tools.heldError(name);
      if (held) throw held;
      const message = `Tool "${name}" of MCP server "${this.server.name}" was removed by the server.`;
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

  /** Registers only tools that passed the trust check. */
  private async readToolsNow(opened: OpenedClient, signal: AbortSignal): Promise<void> {
    if (this.opened !== opened) return;
    const { trust } = this.surroundings;
    const ended = AbortSignal.any([signal, this.ending.signal]);
    const { tools, refused } = await withinLimits(await listTools(opened, ended), ended);
    const version = opened.client.getServerVersion()?.version.slice(0, MAX_VERSION_LENGTH) ?? null;
    const { usable, quarantined, heldHints } = await trust.judge(this.server, version, tools, ended);
    const content = contentToolsOf(opened.client.getServerCapabilities() ?? {});
    const prepared = await this.tools.prepare({ tools: usable, content, refused, quarantined }, ended);
    if (ended.aborted) return;
    this.quarantined = prepared.quarantined;
    this.heldHints = heldHints.filter((tool) => this.tools.isSelected(tool));
    this.tools.swap(prepared);
  }
}

/** Resolves with the work, at the latest after `ms`. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms).unref();
  void work.then(resolve);
  await promise.finally(() => clearTimeout(timer));
}
