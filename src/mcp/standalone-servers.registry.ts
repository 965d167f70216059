import { readConfig } from '../config/index.js';
import { ToolRegistry } from '../tool/index.js';
import { ToolStates } from '../tool-state/index.js';
import type { ConnectedServer } from './connected-server.service.js';
import { declaredMcp, McpRegistry, unknownServer, withdrawMcp } from './mcp-server.registry.js';
import { parseMcpConfig } from './declaration/mcp-declaration.schema.js';
import { MemoryToolPinStore } from './stores/memory-tool-pin-store.js';
import { ToolTrust } from './trust/tool-trust.service.js';

/** Servers connected to without an application; their tools are pinned in memory. */
let standalone: McpRegistry | null = null;

/**
 * Connects to a server declared by `registerMcp`, without an application.
 * @throws AppError `MCP_SERVER_NOT_FOUND`, `MCP_SERVER_INVALID`
 */
export function standaloneServer(name: string): ConnectedServer {
  const servers = (standalone ??= createRegistry());
  if (servers.has(name)) return servers.get(name);
  const declared = declaredMcp();
  const server = declared.find((one) => one.name === name);
  if (!server)
    throw unknownServer(
      name,
      declared.map((one) => one.name),
    );
  return servers.add(
    parseMcpConfig(server, `registerMcp(${JSON.stringify(name)})`, readConfig({}, { isHost: true }).config.mcp),
  );
}

/**
 * Withdraws a declaration of `registerMcp`, and ends its connections made by `enhance`. Started applications are not
 * affected.
 * @returns whether the declaration existed
 */
export async function unregisterMcp(name: string): Promise<boolean> {
  if (standalone?.has(name)) await standalone.remove(name);
  return withdrawMcp(name);
}

function createRegistry(): McpRegistry {
  const { mcp, security, database } = readConfig({}, { isHost: true }).config;
  const tools = new ToolRegistry();
  const trust = new ToolTrust(new MemoryToolPinStore());
  const registry = new McpRegistry(mcp, security, database, tools, trust, ToolStates.inMemory());
  registry.reap();
  registry.begin();
  return registry;
}
