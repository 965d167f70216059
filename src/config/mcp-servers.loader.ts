import { secretIn } from './secret-file.loader.js';
import { messageOf } from '../errors/index.js';
import { describeJsonFault, parseJson, readText } from '../kernel/json/index.js';

/** The content of a file of declarations. */
export interface DeclarationsFile {
  readonly path: string;
  /** By name, as declared, with variables substituted. */
  readonly declared: Readonly<Record<string, unknown>>;
}

/** The content of the MCP servers file. */
export interface McpServersFile {
  readonly path: string;
  /** By name, as declared, with variables substituted. */
  readonly servers: Readonly<Record<string, unknown>>;
}

interface FileForm {
  readonly defaultPath: string;
  /** The only member of the file. */
  readonly member: string;
}

type Given = Readonly<Record<string, string | undefined>>;

const MCP_SERVERS: FileForm = { defaultPath: 'config/mcp-servers.json', member: 'mcpServers' };
const A2A_AGENTS: FileForm = { defaultPath: 'config/a2a-agents.json', member: 'a2aAgents' };
/** `${NAME}`, or `${NAME:-default}`. */
const REFERENCE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/**
 * Reads the MCP servers file and substitutes its variables; the MCP module validates the servers.
 * @param given variables to which the file may refer
 * @param named the value of `MCP_SERVERS_FILE`
 * @param hasDefault whether the default file is read if none is named
 */
export function readMcpServers(
  given: Given,
  named: string | undefined,
  hasDefault: boolean,
): { file: McpServersFile; mistakes: string[] } {
  const { file, mistakes } = readDeclarations(given, named, hasDefault, MCP_SERVERS);
  return { file: { path: file.path, servers: file.declared }, mistakes };
}

/** As `readMcpServers`, for the file of remote agents. @param named the value of `A2A_AGENTS_FILE` */
export function readRemoteAgents(
  given: Given,
  named: string | undefined,
  hasDefault: boolean,
): { file: DeclarationsFile; mistakes: string[] } {
  return readDeclarations(given, named, hasDefault, A2A_AGENTS);
}

function readDeclarations(
  given: Given,
  named: string | undefined,
  hasDefault: boolean,
  { defaultPath, member }: FileForm,
): { file: DeclarationsFile; mistakes: string[] } {
  const path = named ?? defaultPath;
  const file = { path, declared: {} };
  if (named === undefined && !hasDefault) return { file, mistakes: [] };
  let text: string;
  try {
    text = readText(path);
  } catch (cause) {
    const isAbsent = named === undefined && (cause as NodeJS.ErrnoException).code === 'ENOENT';
    return { file, mistakes: isAbsent ? [] : [`${path} cannot be read: ${messageOf(cause)}`] };
  }
  const parsed = parseJson(text);
  if (!parsed.ok) return { file, mistakes: [`${path} is not JSON (${describeJsonFault(parsed.fault, text)}).`] };
  const declared = declaredIn(parsed.value, member);
  if (!declared) return { file, mistakes: [`${path} must be an object with one member: { "${member}": { … } }`] };
  const variables = new ReferencedVariables(given);
  const filled = filledIn(declared, variables) as DeclarationsFile['declared'];
  const missing = [...variables.missing].map(
    (name) => `${path} refers to \${${name}}, which is not set: set it, or give a default: \${${name}:-…}`,
  );
  return { file: { path, declared: filled }, mistakes: [...missing, ...variables.mistakes] };
}

function declaredIn(value: unknown, member: string): DeclarationsFile['declared'] | undefined {
  if (!isObject(value)) return undefined;
  const { [member]: declared, ...others } = value;
  return isObject(declared) && Object.keys(others).length === 0 ? declared : undefined;
}

/** The variables to which the file refers, or the content of their files `<NAME>_FILE`. */
class ReferencedVariables {
  readonly missing = new Set<string>();
  readonly mistakes: string[] = [];

  constructor(private readonly given: Given) {}

  valueOf(name: string, instead: string | undefined): string | undefined {
    const path = this.given[`${name}_FILE`];
    const value = this.given[name] ?? (path === undefined ? instead : this.contentOf(name, path));
    if (value === undefined) this.missing.add(name);
    return value;
  }

  private contentOf(name: string, path: string): string {
    try {
      return secretIn(path, name);
    } catch (error) {
      this.mistakes.push(`${name}_FILE: ${JSON.stringify(path)} cannot be used: ${messageOf(error)}`);
      return '';
    }
  }
}

function filledIn(value: unknown, variables: ReferencedVariables): unknown {
  if (Array.isArray(value)) return value.map((member) => filledIn(member, variables));
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, filledIn(member, variables)]));
  }
  if (typeof value !== 'string') return value;
  return value.replace(REFERENCE, (whole, name: string, instead?: string) => variables.valueOf(name, instead) ?? whole);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
