import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { AppError, messageOf } from '../../common/index.js';
import { AppConfig } from '../../config/index.js';
import { McpRegistry } from '../mcp-server.registry.js';
import type { McpServer } from '../mcp-server.types.js';
import type { McpConfig } from './mcp-config.types.js';
import { declaredMcp, duplicate, unknownServer } from './mcp-declarations.registry.js';
import { parseMcpConfig, parseMcpEntry } from './mcp-declaration.schema.js';

/** What the application declares: type and token in one. */
export abstract class DeclaredMcpServers {
  abstract readonly servers: readonly McpConfig[];
  /** The names of those that are taken up, wherever they are declared; all when left out. */
  abstract readonly only?: readonly string[] | undefined;
}

/** Takes up the servers of the file and of code when the application starts; nobody waits for one of them. */
@Injectable()
export class McpServerLoader implements OnModuleInit {
  constructor(
    private readonly config: AppConfig,
    private readonly registry: McpRegistry,
    @Inject(DeclaredMcpServers) private readonly inCode: DeclaredMcpServers,
  ) {}

  /**
   * @throws AppError `MCP_SERVER_INVALID` that lists every mistake, `MCP_SERVER_DUPLICATE`, `MCP_SERVER_NOT_FOUND` for a name
   *   that is chosen and not there; then none is started
   */
  onModuleInit(): void {
    const mistakes: string[] = [];
    const servers = this.chosen(this.declared(mistakes));
    if (mistakes.length > 0) throw new AppError('MCP_SERVER_INVALID', mistakes.join('\n'));
    assertDistinct(servers);
    // Of earlier servers, too, that nobody declares any more.
    this.registry.reap();
    for (const server of servers) this.registry.add(server);
  }

  private chosen(servers: readonly McpServer[]): readonly McpServer[] {
    const { only } = this.inCode;
    if (!only) return servers;
    const known = servers.map(({ name }) => name);
    for (const name of only) if (!known.includes(name)) throw unknownServer(name, known);
    return servers.filter(({ name }) => only.includes(name));
  }

  private declared(mistakes: string[]): McpServer[] {
    const { mcp } = this.config;
    const { path, servers } = mcp.file;
    const made = [
      ...Object.entries(servers).map(
        ([name, given]) =>
          () =>
            parseMcpEntry(name, given, `${path}: ${JSON.stringify(name)}`, mcp),
      ),
      ...this.inCode.servers.map((given, at) => () => parseMcpConfig(given, `mcpServers[${at}]`, mcp)),
      ...declaredMcp().map((given) => () => parseMcpConfig(given, `registerMcp(${JSON.stringify(given.name)})`, mcp)),
    ];
    return made.flatMap((make) => {
      try {
        return [make()];
      } catch (error) {
        mistakes.push(messageOf(error));
        return [];
      }
    });
  }
}

function assertDistinct(servers: readonly McpServer[]): void {
  const sources = new Map<string, string>();
  for (const { name, source } of servers) {
    const other = sources.get(name);
    if (other !== undefined) throw duplicate(name, source, other);
    sources.set(name, source);
  }
}
