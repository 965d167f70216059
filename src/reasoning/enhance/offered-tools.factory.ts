import { AppError } from '../../errors/index.js';
import { type ConnectedServer, type McpRegistry, standaloneServer } from '../../mcp/index.js';
import { type ToolRegistration, ToolRegistry } from '../../tool/index.js';
import type { Tool } from '../../tool/method/index.js';
import type { StatefulCalls } from '../../tool/stateful/index.js';
import { ToolStates } from '../../tool-state/index.js';

/**
 * The tools of an enhanced model: a list, a registry, a function, or the name of an MCP server. Retries, caching and
 * limits apply to a list as in a registry. The other sources are read at each call of the model.
 */
export type EnhancingTools =
  readonly (Tool | ToolRegistration)[] | ToolRegistry | (() => readonly Tool[] | Promise<readonly Tool[]>) | string;

/** Tools that are resolved at each call. */
export interface OfferedTools {
  readonly list: () => Promise<readonly Tool[]>;
  /** Storage of stateful tools; undefined if the source has none. */
  readonly states?: StatefulCalls;
}

const WANTED = 'give a list of tools, a ToolRegistry, a function that gives tools, or the name of an MCP server';

/**
 * @param servers registry for the name of a server; by default the servers declared with `registerMcp`
 * @throws AppError `TOOL_INVALID`, `TOOL_DUPLICATE` for unusable tools; `MCP_SERVER_NOT_FOUND`
 */
export function offeredTools(source: EnhancingTools, servers?: McpRegistry): OfferedTools {
  if (typeof source === 'string') return ofServer(servers ? servers.get(source) : standaloneServer(source));
  if (typeof source === 'function') return { list: async () => assertTools(await source()) };
  if (source instanceof ToolRegistry) return ofRegistry(source);
  if (!Array.isArray(source)) throw new AppError('TOOL_INVALID', `enhance(): these are not tools: ${WANTED}.`);
  for (const [at, one] of (source as readonly unknown[]).entries()) {
    if (isRecord(one) && ('definition' in one ? isTool(one) : 'handler' in one)) continue;
    const wanted = 'a whole Tool or { name, description, parameters, handler }';
    throw new AppError('TOOL_INVALID', `enhance(): tool ${at + 1} of the list is invalid: it must be ${wanted}.`);
  }
  const registry = new ToolRegistry();
  registry.registerAll(source as readonly (Tool | ToolRegistration)[]);
  return ofRegistry(registry);
}

function ofServer(server: ConnectedServer): OfferedTools {
  return { list: () => server.offered(), states: server.states };
}

function ofRegistry(registry: ToolRegistry): OfferedTools {
  if (registry.available('*').length === 0) throw new AppError('TOOL_INVALID', `enhance(): no tools: ${WANTED}.`);
  return { list: async () => registry.available('*'), states: registry.statesOr(() => ToolStates.inMemory()) };
}

/** An empty list is valid: the source may be temporarily unavailable. */
function assertTools(tools: readonly Tool[]): readonly Tool[] {
  if (!Array.isArray(tools) || !tools.every(isTool))
    throw new AppError('TOOL_INVALID', 'enhance(): the function did not give a list of whole tools.');
  const names = tools.map(({ definition }) => definition.name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice === undefined) return tools;
  throw new AppError('TOOL_DUPLICATE', `enhance(): the function gave two tools named "${twice}".`);
}

function isTool(value: unknown): value is Tool {
  if (!isRecord(value)) return false;
  const { definition, metadata, validate, invoke } = value;
  return isRecord(definition) && isRecord(metadata) && typeof validate === 'function' && typeof invoke === 'function';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
