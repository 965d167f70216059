import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { AppError, messageOf } from '../../errors/index.js';
import { mcpConfig, type McpClientConfig } from '../../config/namespaces/index.js';
import { declaredMcp, duplicate, McpRegistry, unknownServer } from '../mcp-server.registry.js';
import type { McpServer } from '../mcp-server.types.js';
import type { McpConfig } from './mcp-config.types.js';
import { parseMcpConfig, parseMcpEntry } from './mcp-declaration.schema.js';

/** Servers declared by the application; both type and injection token. */
export abstract class DeclaredMcpServers {
  abstract readonly servers: readonly McpConfig[];
  /** Names of the servers to use, from all declarations; by default all. */
  abstract readonly only?: readonly string[] | undefined;
}

/** Registers the servers of the file and of code at the start of the application, without waiting for connections. */
@Injectable()
export class McpServerLoader implements OnModuleInit {
  constructor(
    @Inject(mcpConfig.KEY) private readonly config: McpClientConfig,
    private readonly registry: McpRegistry,
    @Inject(DeclaredMcpServers) private readonly inCode: DeclaredMcpServers,
  ) {}

  /**
   * @throws AppError `MCP_SERVER_INVALID` with every mistake, `MCP_SERVER_DUPLICATE`, `MCP_SERVER_NOT_FOUND` for an
   *   unknown selected name; no server is then started
   */
  onModuleInit(): void {
    const mistakes: string[] = [];
    const servers = this.chosen(this.declared(mistakes));
    if (mistakes.length > 0) throw new AppError('MCP_SERVER_INVALID', mistakes.join('\n'));
    assertDistinct(servers);
    // Includes programs of servers that are no longer declared.
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
    const { config: mcp } = this;
    const { path, servers } = mcp.file;
    const made = [
      ...Object.entries(servers).map(
        ([name, declaration]) =>
          () =>
            parseMcpEntry(name, declaration, `${path}: ${JSON.stringify(name)}`, mcp),
      ),
      ...this.inCode.servers.map((declaration, at) => () => parseMcpConfig(declaration, `mcpServers[${at}]`, mcp)),
      ...declaredMcp().map(
        (declaration) => () => parseMcpConfig(declaration, `registerMcp(${JSON.stringify(declaration.name)})`, mcp),
      ),
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
