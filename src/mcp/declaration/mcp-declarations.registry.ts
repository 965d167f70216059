import { AppError } from '../../errors/index.js';
import type { McpConfig } from './mcp-config.types.js';

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
