import { ENV_NAMES, type EnvName, isSecret, secretFileOf } from './env.schema.js';
import { PROVIDER_VARIABLES } from './provider-variable.schema.js';

export const PREFIX = 'JACKDAW_';

/** Variables that other programs share. */
const SHARED = /^(?:LLM_|HTTP_PROXY$|HTTPS_PROXY$|NO_PROXY$)/;

function hasPrefix(name: EnvName): boolean {
  return !SHARED.test(name) && !Object.hasOwn(PROVIDER_VARIABLES, name);
}

/** All names, without the prefix, with those of secret files. */
export const KNOWN_NAMES: readonly string[] = [...ENV_NAMES, ...ENV_NAMES.flatMap((name) => secretFileOf(name) ?? [])];

/** The names that have the prefix in a host application. */
const PREFIXED: ReadonlySet<string> = new Set(
  ENV_NAMES.filter(hasPrefix).flatMap((name) => [name, secretFileOf(name) ?? name]),
);

/** The names that are the same in a server and in a host application. */
export const COMMON_NAMES: readonly string[] = KNOWN_NAMES.filter((name) => !PREFIXED.has(name));

export function isPrefixed(name: string): boolean {
  return PREFIXED.has(name);
}

/** The name in a host application. */
export function hostName(name: string): string {
  return PREFIXED.has(name) ? PREFIX + name : name;
}

/**
 * Names with the prefix that are not settings: of clients, of MCP server processes, of a worker, of scripts that need the
 * folder of an installation, and of a Kubernetes service `jackdaw`.
 */
const FOREIGN = /^JACKDAW_(?:URL$|KEY$|DIR$|MCP_CHILD$|WORKER$|SERVICE_|PORT_)/;

/** Whether a variable with the prefix belongs to another program. */
export function isForeign(name: string, value: string): boolean {
  return FOREIGN.test(name) || (name === 'JACKDAW_PORT' && value.trim().startsWith('tcp://'));
}

const SECRETS: readonly string[] = ENV_NAMES.filter((name) => isSecret(name));

type Variables = Readonly<Record<string, string>>;

/**
 * The variables that agent files may insert into prompts: all except the secrets among Jackdaw's own, and those that
 * tools authenticate with.
 */
export function agentVariables(given: Variables, toolSecrets: Variables): Variables {
  const secrets = new Set([...SECRETS, ...SECRETS.map(hostName), ...Object.keys(toolSecrets)]);
  return Object.fromEntries(Object.entries(given).filter(([name]) => !secrets.has(name)));
}
