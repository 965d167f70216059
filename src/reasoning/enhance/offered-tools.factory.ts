import { AppError } from '../../common/index.js';
import { type ConnectedServer, type McpRegistry, standaloneServer } from '../../mcp/index.js';
import { ToolRegistry, type Tool, type ToolRegistration, type ToolStates } from '../../tool/index.js';

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
  readonly states?: ToolStates;
}

const WANTED = 'give a list of tools, a ToolRegistry, a function that gives tools, or the name of an MCP server';

/**
 * @param servers registry for the name of a server; by default the servers declared with `registerMcp`
 * @throws AppError `TOOL_INVALID`, `TOOL_DUPLICATE` for unusable tools; `MCP_SERVER_NOT_FOUND`
 */
export function offeredTools(given: EnhancingTools, servers?: McpRegistry): OfferedTools {
  if (typeof given === 'string') return ofServer(servers ? servers.get(given) : standaloneServer(given));
  if (typeof given === 'function') return { list: async () => assertTools(await given()) };
  if (given instanceof ToolRegistry) return ofRegistry(given);
  if (!Array.isArray(given)) throw new AppError('TOOL_INVALID', `enhance(): these are not tools: ${WANTED}.`);
  for (const [at, one] of (given as readonly unknown[]).entries()) {
    if (isRecord(one) && ('definition' in one ? isTool(one) : 'handler' in one)) continue;
    const wanted = 'a whole Tool or { name, description, parameters, handler }';
    throw new AppError('TOOL_INVALID', `enhance(): tool ${at + 1} of the list is invalid: it must be ${wanted}.`);
  }
  const registry = new ToolRegistry();
  registry.registerAll(given as readonly (Tool | ToolRegistration)[]);
  return ofRegistry(registry);
}

function ofServer(server: ConnectedServer): OfferedTools {
  return { list: () => server.offered(), states: server.states };
}

function ofRegistry(registry: ToolRegistry): OfferedTools {
  if (registry.available('*').length === 0) throw new AppError('TOOL_INVALID', `enhance(): no tools: ${WANTED}.`);
  return { list: async () => registry.available('*'), states: registry.states };
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

function isTool(given: unknown): given is Tool {
  if (!isRecord(given)) return false;
  const { definition, metadata, validate, invoke } = given;
  return isRecord(definition) && isRecord(metadata) && typeof validate === 'function' && typeof invoke === 'function';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
