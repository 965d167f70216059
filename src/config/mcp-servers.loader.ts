import { messageOf, parseJson, readText } from '../common/index.js';
import type { McpServersFile } from './mcp-config.types.js';

type Given = Readonly<Record<string, string | undefined>>;

const DEFAULT_PATH = 'config/mcp-servers.json';
/** `${NAME}`, or `${NAME:-what stands for it where it is not set}`. */
const REFERENCE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** What the file of MCP servers says, its variables filled in; its servers are checked by who connects to them. */
export function readMcpServers(given: Given): { file: McpServersFile; mistakes: string[] } {
  const path = given['MCP_SERVERS_FILE'] ?? DEFAULT_PATH;
  const file = { path, servers: {} };
  let text: string;
  try {
    text = readText(path);
  } catch (cause) {
    const isLeftOut = given['MCP_SERVERS_FILE'] === undefined && (cause as NodeJS.ErrnoException).code === 'ENOENT';
    return { file, mistakes: isLeftOut ? [] : [`${path} cannot be read: ${messageOf(cause)}`] };
  }
  const parsed = parseJson(text);
  if (!parsed.ok) return { file, mistakes: [`${path} is not JSON (${parsed.fault.kind}).`] };
  const servers = serversOf(parsed.value);
  if (!servers) return { file, mistakes: [`${path} is to be an object with one member: { "mcpServers": { … } }`] };
  const missing = new Set<string>();
  const filled = filledIn(servers, given, missing) as McpServersFile['servers'];
  const mistakes = [...missing].map(
    (name) =>
      `${path} refers to \${${name}}, which is not set: set it, or write \${${name}:-…} with what stands for it`,
  );
  return { file: { path, servers: filled }, mistakes };
}

function serversOf(value: unknown): McpServersFile['servers'] | undefined {
  if (!isObject(value)) return undefined;
  const { mcpServers, ...others } = value;
  return isObject(mcpServers) && Object.keys(others).length === 0 ? mcpServers : undefined;
}

function filledIn(value: unknown, given: Given, missing: Set<string>): unknown {
  if (Array.isArray(value)) return value.map((member) => filledIn(member, given, missing));
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, filledIn(member, given, missing)]));
  }
  if (typeof value !== 'string') return value;
  return value.replace(REFERENCE, (whole, name: string, instead?: string) => {
    const found = given[name] ?? instead;
    if (found === undefined) missing.add(name);
    return found ?? whole;
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
