import { createHash } from 'node:crypto';

/** Maximum length that every provider accepts. */
const MAX_LENGTH = 64;
const HASH_LENGTH = 6;
/** Names that MCP allows (SEP-986), in ASCII only: other scripts have letters that look the same. */
const TOOL_NAME = /^[A-Za-z0-9_./-]{1,128}$/;
const SERVER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,31}$/;

/** Separates the server's name from the tool's; no server name contains it. */
export const NAME_SEPARATOR = '__';

/** Why a server name is invalid; undefined for a valid one. */
export function refusedServerName(name: unknown): string | undefined {
  if (typeof name === 'string' && SERVER_NAME.test(name) && !name.endsWith('_')) return undefined;
  return `the name ${JSON.stringify(name)} is invalid: use 1 to 32 letters, digits, "-" or single "_", starting with a letter or digit and not ending with "_"`;
}

/** The tool's name in Jackdaw; undefined for an invalid name, which could imitate another tool. */
export function mcpToolName(server: string, tool: string): string | undefined {
  if (!TOOL_NAME.test(tool)) return undefined;
  const name = `${server}${NAME_SEPARATOR}${tool.replaceAll(/[./]/g, '_')}`;
  if (name.length <= MAX_LENGTH) return name;
  const hash = createHash('sha256').update(tool).digest('hex').slice(0, HASH_LENGTH);
  return `${name.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`;
}
