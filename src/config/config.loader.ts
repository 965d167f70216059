import { AppError, messageOf } from '../errors/index.js';
import { readText, withoutMark } from '../kernel/index.js';
import { agentVariables } from './agent-variable.policy.js';
import { configInvalid, mistakeLine } from './config-invalid.error.js';
import { parseEnvFile } from './env-file.parser.js';
import { mistakesBetween, warningsBetween } from './env-rules.policy.js';
import {
  createConfiguration,
  ENV_NAMES,
  schemaOf,
  type Configuration,
  type EnvName,
  type EnvValues,
} from './env.schema.js';
import { withKeys, withSecretFiles } from './key-file.loader.js';
import { compact } from './namespace.factory.js';
import { hasQuote, isQuoted } from './key-text.parser.js';
import { readMcpServers } from './mcp-servers.loader.js';
import { nearMisses } from './near-miss.policy.js';
import { providerWarnings } from './provider-warning.policy.js';
import { toolSecrets } from './tool-secret.policy.js';

export type EnvRecord = Readonly<Record<string, string | undefined>>;

export interface ConfigSources {
  readonly env: EnvRecord;
  /** The text of a `.env` file; `env` takes precedence, also with an empty value. */
  readonly envFile?: string;
  /**
   * Whether the application has an authenticator of its own, so that a missing `API_KEYS` does not disable
   * authentication.
   */
  readonly hasAuthenticator?: boolean;
}

export interface LoadedConfig {
  readonly config: Configuration;
  /** One line each, for the log. */
  readonly warnings: readonly string[];
}

/**
 * Validates the variables and builds the values of all namespaces. Empty values count as not set.
 * @throws AppError `CONFIG_INVALID` that lists all errors
 */
export function loadConfig({ env, envFile = '', hasAuthenticator = false }: ConfigSources): LoadedConfig {
  const file = parseEnvFile(withoutMark(envFile));
  const variables = withProxies(withoutEmpty({ ...file.values, ...withoutUndefined(env) }));
  const secrets = withSecretFiles(variables);
  const { given, mistakes: ofFiles } = withKeys(secrets.given);
  const { values, mistakes } = readValues(given, variables);
  const mcp = readMcpServers(given);
  mistakes.unshift(...file.faults.map((fault) => `.env: ${fault}`));
  mistakes.push(...secrets.mistakes, ...ofFiles, ...mcp.mistakes, ...mistakesBetween(values, given, hasAuthenticator));
  if (mistakes.length > 0) throw configInvalid(mistakes);
  const ofTools = toolSecrets(given, values.TOOL_SECRETS);
  return {
    config: createConfiguration(values as EnvValues, {
      hasAuthenticator,
      values,
      toolSecrets: ofTools,
      mcpServers: mcp.file,
      agentVariables: agentVariables(given, ofTools),
    }),
    warnings: [...nearMisses(Object.keys(given)), ...providerWarnings(given), ...warningsBetween(values, given)],
  };
}

/**
 * The configuration of this process. `overrides` take precedence over its environment, then the `.env` file of the
 * working directory.
 * `process.env` is read, never written.
 * @throws AppError `CONFIG_INVALID` that lists all errors
 */
export function readConfig(overrides: EnvRecord = {}, hasAuthenticator = false): LoadedConfig {
  assertNode(process.versions);
  const own = withoutUndefined(overrides);
  // A secret given in code takes precedence over the environment's file with that secret.
  const files = Object.keys(own).map((name) => [`${name}_FILE`, '']);
  const env = { ...process.env, ...Object.fromEntries(files), ...own };
  return loadConfig({ env, envFile: readEnvFile('.env'), hasAuthenticator });
}

/**
 * An older Node would crash without a message when it loads SQLite, which is compiled for Node-API 10.
 * @throws AppError `CONFIG_INVALID` for a Node older than 22.19
 */
export function assertNode({ node, napi }: { readonly node: string; readonly napi?: string | undefined }): void {
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) if (Number(napi) >= 10) return;
  throw new AppError(
    'CONFIG_INVALID',
    `Jackdaw needs Node 22.19 or newer; this is ${node}: run the program on Node 24.`,
  );
}

function readEnvFile(path: string): string {
  try {
    return readText(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw new AppError('CONFIG_INVALID', `${path} cannot be read (${messageOf(cause)}): correct it, or remove it.`, {
      cause,
    });
  }
}

/**
 * Drops undefined values. Removes a byte order mark at a name, left by a program that loaded the `.env` file itself.
 */
function withoutUndefined(record: EnvRecord): EnvRecord {
  const entries = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [withoutMark(name), value]));
}

function withoutEmpty(record: EnvRecord): Record<string, string> {
  const entries = Object.entries(record).map(([name, value]) => [name, value?.trim() ?? ''] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

/** The lower-case names of proxy variables, which other programs read too; the upper-case ones take precedence. */
function withProxies(variables: Record<string, string>): Record<string, string> {
  const { http_proxy, https_proxy, no_proxy, ...others } = variables;
  return { ...compact({ HTTP_PROXY: http_proxy, HTTPS_PROXY: https_proxy, NO_PROXY: no_proxy }), ...others };
}

/**
 * Variables with text for a model, which may be quoted; and the names of keys and URLs, which never have a quote at an
 * end.
 */
const FREE_TEXTS: readonly string[] = ['AGENT_INSTRUCTIONS', 'LLM_STOP'];
const KEY_OR_URL = /(?:_KEYS?|_URL|_ENDPOINT|^SESSION_STORE)$/;
const QUOTED = 'has quotes around it, which a shell removes but docker’s --env-file retains: leave them out';

function isInQuotes(name: EnvName, text: string | undefined): boolean {
  if (text === undefined || FREE_TEXTS.includes(name)) return false;
  return isQuoted(text) || (KEY_OR_URL.test(name) && hasQuote(text));
}

/** @param given with the keys of key files @param variables without them */
function readValues(
  given: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>>,
): { values: Partial<EnvValues>; mistakes: string[] } {
  const values: Record<string, unknown> = {};
  const mistakes: string[] = [];
  // Parse each variable separately, so that one error does not hide another.
  for (const name of ENV_NAMES) {
    if (isInQuotes(name, variables[name])) {
      mistakes.push(mistakeLine(name, variables[name]!, QUOTED));
      continue;
    }
    const read = schemaOf(name).safeParse(given[name]);
    if (read.success) values[name] = read.data;
    else mistakes.push(...read.error.issues.map(({ message }) => mistakeLine(name, given[name] ?? '', message)));
  }
  return { values, mistakes };
}
