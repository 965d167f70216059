import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import {
  databaseConfig,
  type DatabaseConfig,
  type McpClientConfig,
  mcpConfig,
  securityConfig,
  type SecurityConfig,
} from '../config/namespaces/index.js';
import { AppError, Log } from '../errors/index.js';
import { ToolStates } from '../tool-state/index.js';
import { ToolRegistry } from '../tool/index.js';
import { ConnectedServer } from './connected-server.service.js';
import type { McpConfig } from './declaration/mcp-config.types.js';
import type { McpServer } from './mcp-server.types.js';
import { ChildLedger } from './process/child-ledger.store.js';
import { ToolTrust } from './trust/tool-trust.service.js';

/** Declarations made in this process before an application starts. */
const DECLARED = new Map<string, McpConfig>();

/**
 * Declares an MCP server for the applications and agents that this process starts later.
 * @throws AppError `MCP_SERVER_INVALID` without a name, `MCP_SERVER_DUPLICATE`; other mistakes are reported at the
 *   first use
 */
export function registerMcp(config: McpConfig): void {
  const { name } = config;
  if (typeof name !== 'string' || name.trim() === '') {
    throw new AppError('MCP_SERVER_INVALID', 'registerMcp: the name of the MCP server is missing.');
  }
  if (DECLARED.has(name)) throw duplicate(name, 'registerMcp');
  DECLARED.set(name, config);
}

/** @returns whether the declaration existed */
export function withdrawMcp(name: string): boolean {
  return DECLARED.delete(name);
}

export function declaredMcp(): readonly McpConfig[] {
  return [...DECLARED.values()];
}

export function duplicate(name: string, source: string, other?: string): AppError {
  const where = other === undefined ? '' : ` (${other})`;
  const message = `${source}: MCP server "${name}" exists already${where}: rename one of them.`;
  return new AppError('MCP_SERVER_DUPLICATE', message, { details: { server: name } });
}

export function unknownServer(name: string, known: readonly string[]): AppError {
  const hint = known.length > 0 ? ` Known servers: ${known.join(', ')}.` : '';
  return new AppError('MCP_SERVER_NOT_FOUND', `There is no MCP server "${name}".${hint}`, {
    details: { server: name },
  });
}

/**
 * Delay between the start of the application and the connections, in ms: twenty connections cost as much time as the
 * rest of the start.
 */
const START_DELAY_MS = 50;

/** Owns the MCP servers: connects to them in the background, and closes them with the application. */
@Injectable()
export class McpRegistry implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  private readonly logger = new Log('McpRegistry');
  private readonly servers = new Map<string, ConnectedServer>();
  private readonly ledger: ChildLedger;
  private hasStarted = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(mcpConfig.KEY) private readonly config: McpClientConfig,
    @Inject(securityConfig.KEY) private readonly security: SecurityConfig,
    @Inject(databaseConfig.KEY) { dataDir }: DatabaseConfig,
    private readonly tools: ToolRegistry,
    private readonly trust: ToolTrust,
    private readonly states: ToolStates,
  ) {
    this.ledger = new ChildLedger(dataDir);
  }

  /** Ends programs left by an earlier process. */
  reap(): void {
    const ended = this.ledger.reap();
    if (ended > 0) this.logger.warn(`Ended ${ended} MCP servers that an earlier process had left running`);
  }

  /** Connects after the start, so that connections do not slow it down. Without an application, call `begin`. */
  onApplicationBootstrap(): void {
    this.timer = setTimeout(() => this.begin(), START_DELAY_MS);
  }

  /** Connects to the registered servers, and from now on at once to new ones. */
  begin(): void {
    this.hasStarted = true;
    for (const { server, connection } of this.list()) if (server.isEnabled) connection.start();
  }

  /**
   * Registers a server, and connects to it if it is enabled.
   * @throws AppError `MCP_SERVER_DUPLICATE`
   */
  add(server: McpServer): ConnectedServer {
    const other = this.servers.get(server.name);
    if (other) throw duplicate(server.name, server.source, other.server.source);
    const { config, security, ledger, tools: registry, trust, states } = this;
    const connected = new ConnectedServer(server, {
      world: { config, outgoing: security.outgoing, ledger },
      registry,
      trust,
      states,
    });
    this.servers.set(server.name, connected);
    if (server.isEnabled) this.logger.log(handlingOf(server));
    if (server.isEnabled) connected.announce();
    if (server.isEnabled && this.hasStarted) connected.connection.start();
    return connected;
  }

  /** Removes a server and its tools. @throws AppError `MCP_SERVER_NOT_FOUND` */
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

  /** In the order of registration. */
  list(): readonly ConnectedServer[] {
    return [...this.servers.values()];
  }

  /** Starts no further connection while runs end. */
  onModuleDestroy(): void {
    clearTimeout(this.timer);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.list().map((server) => server.close()));
  }
}

/** How calls of a server count by the rule of three facts, in one line. */
function handlingOf({ name, isPrivate, egress, areHintsBelieved, transport }: McpServer): string {
  const isProgram = transport.kind === 'stdio';
  const unless = isProgram && areHintsBelieved ? ', except tools hinted to read on this machine only' : '';
  const out = egress === undefined ? `by default${unless}` : String(egress);
  const home = isProgram ? `; HOME: ${transport.hasOwnHome ? 'its own, empty' : "this user's"}` : '';
  return `MCP server "${name}": private: ${isPrivate}; egress: ${out}; hints: ${areHintsBelieved ? 'believed' : 'ignored'}${home}`;
}
