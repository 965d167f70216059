import { AppError } from '../../common/index.js';
import type { McpConfig } from './mcp-config.types.js';

/** What was declared in this process before an application was started. */
const DECLARED = new Map<string, McpConfig>();

/**
 * Declares an MCP server for the applications and agents that this process starts afterwards.
 * @throws AppError `MCP_SERVER_INVALID` without a name, `MCP_SERVER_DUPLICATE`; what is wrong else is said when it is used
 */
export function registerMcp(config: McpConfig): void {
  const { name } = config;
  if (typeof name !== 'string' || name.trim() === '') {
    throw new AppError('MCP_SERVER_INVALID', 'registerMcp: the name of the MCP server is missing.');
  }
  if (DECLARED.has(name)) throw duplicate(name, 'registerMcp');
  DECLARED.set(name, config);
}

/** Gives whether there was one. */
export function withdrawMcp(name: string): boolean {
  return DECLARED.delete(name);
}

export function declaredMcp(): readonly McpConfig[] {
  return [...DECLARED.values()];
}

export function duplicate(name: string, source: string, other?: string): AppError {
  const where = other === undefined ? '' : ` (${other})`;
  const message = `${source}: there is an MCP server "${name}" already${where}: give one of them another name.`;
  return new AppError('MCP_SERVER_DUPLICATE', message, { details: { server: name } });
}

export function unknownServer(name: string, known: readonly string[]): AppError {
  const hint = known.length > 0 ? ` There are: ${known.join(', ')}.` : '';
  return new AppError('MCP_SERVER_NOT_FOUND', `There is no MCP server "${name}".${hint}`, {
    details: { server: name },
  });
}
