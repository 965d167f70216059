import { createHash } from 'node:crypto';

/** What every provider takes. */
const MAX_LENGTH = 64;
const HASH_LENGTH = 6;
/** What MCP lets a tool be called (SEP-986); other writing systems have letters that look like these. */
const TOOL_NAME = /^[A-Za-z0-9_./-]{1,128}$/;
const SERVER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,31}$/;

/** Between the server's name and the tool's; no server's name has it. */
export const NAME_SEPARATOR = '__';

/** Why a server cannot bear the name; undefined when it can. */
export function refusedServerName(name: unknown): string | undefined {
  if (typeof name === 'string' && SERVER_NAME.test(name) && !name.endsWith('_')) return undefined;
  return `the name ${JSON.stringify(name)} is refused: use 1 to 32 letters, digits, "-" or single "_", beginning with a letter or digit and ending in no "_"`;
}

/** What the tool of a server is called here; undefined for one that may look like another. */
export function mcpToolName(server: string, tool: string): string | undefined {
  if (!TOOL_NAME.test(tool)) return undefined;
  const name = `${server}${NAME_SEPARATOR}${tool.replaceAll(/[./]/g, '_')}`;
  if (name.length <= MAX_LENGTH) return name;
  const hash = createHash('sha256').update(tool).digest('hex').slice(0, HASH_LENGTH);
  return `${name.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`;
}
