import { AppError, messageOf } from '../errors/index.js';
import { readText, withoutMark } from '../kernel/json/index.js';
import { nestVersion } from '../kernel/nest/index.js';
import { agentVariables } from './variable-name.policy.js';
import { configInvalid, mistakeLine } from './config-invalid.error.js';
import { toolSecrets } from './tool-secret.policy.js';
import { shortSecretWarnings } from './configured-secrets.js';
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
import { compact, type WhenLocked } from './namespace.factory.js';
import { withKeys, withSecretFiles } from './key-file.loader.js';
import { hasQuote, isQuoted } from './key-text.parser.js';
import { readMcpServers, readRemoteAgents } from './mcp-servers.loader.js';
import { readModels } from './models-file.loader.js';
import { mergeVariables } from './merged-variables.mapper.js';
import { providerWarnings } from './provider-warning.policy.js';
import { type EnvRecord, withSetNames } from './variable-name.mapper.js';

export type { EnvRecord };

/** The use of the variables. */
export interface ConfigUse {
  /**
   * Whether the application has an authenticator of its own, so that a missing `API_KEYS` does not disable
   * authentication.
   */
  readonly hasAuthenticator?: boolean;
  /** Whether Jackdaw is part of a host application, whose environment has other variables: those of Jackdaw have a prefix. */
  readonly isHost?: boolean;
  /** Whether `.env` and the folder `config` are read; by default those of a server are. */
  readonly hasFiles?: boolean;
  /** Whether a host application starts only if this process owns its database. */
  readonly requireStore?: boolean;
  /** Whether an idle host application keeps the process alive; by default in a cluster, except in tests. */
  readonly keepAlive?: boolean | undefined;
}

export interface ConfigSources extends ConfigUse {
  readonly env: EnvRecord;
  /** The text of a `.env` file; `env` takes precedence, also with an empty value. */
  readonly envFile?: string;
  /** Variables given in code, with or without the prefix; they take precedence over all. */
  readonly overrides?: EnvRecord;
}

export interface LoadedConfig {
  readonly config: Configuration;
  /** One line each, for the log. */
  readonly warnings: readonly string[];
  /** Warnings about secrets that are too short to be masked. */
  readonly secretWarnings: readonly string[];
}

/**
 * Validates the variables and builds the values of all namespaces. Empty values count as not set.
 * @throws AppError `CONFIG_INVALID` that lists all errors
 */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const { hasAuthenticator = false, isHost = false, hasFiles = !isHost } = sources;
  const file = parseEnvFile(withoutMark(sources.envFile ?? ''));
  const found = mergeVariables([file.values, sources.env], sources.overrides ?? {}, isHost);
  const secrets = withSecretFiles(found.values);
  const { given, mistakes: ofFiles } = withKeys(secrets.given);
  const defaults = isHost ? hostDefaults(given, sources.env) : {};
  const { values, mistakes } = readValues({ ...defaults, ...given }, found.values);
  // References may also use the names that were set; in a host application they mean its own variables first.
  const referable = isHost ? { ...given, ...found.raw } : { ...found.raw, ...given };
  const mcp = readMcpServers(referable, given['MCP_SERVERS_FILE'], hasFiles);
  const remote = readRemoteAgents(referable, given['A2A_AGENTS_FILE'], hasFiles);
  const models = readModels(given['LLM_MODELS_FILE'], hasFiles);
  const hasPrices = Object.values(models.models).some(({ price }) => price !== undefined);
  const named = (text: string) => withSetNames(text, found.names, isHost);
  const context = { hasAuthenticator, hasPrices, isHost };
  mistakes.push(...secrets.mistakes, ...ofFiles, ...mistakesBetween(values, given, context));
  const all = [
    ...file.faults.map((fault) => `.env: ${fault}`),
    ...found.mistakes,
    ...mistakes.map(named),
    ...mcp.mistakes,
    ...remote.mistakes,
    ...models.mistakes,
  ];
  if (all.length > 0) throw configInvalid(all, hasFiles);
  const ofTools = toolSecrets(given, values.TOOL_SECRETS);
  const config = createConfiguration(values as EnvValues, {
    hasAuthenticator,
    isHost,
    whenLocked: whenLockedOf(sources),
    keepAlive: keepAliveOf(sources, sources.env),
    hasFiles,
    nameOf: named,
    values,
    toolSecrets: ofTools,
    mcpServers: mcp.file,
    remoteAgents: remote.file,
    models: models.models,
    agentVariables: agentVariables(referable, ofTools),
  });
  const own = [...providerWarnings(given), ...warningsBetween(values, given)];
  return {
    config,
    warnings: [...found.warnings, ...own.map(named)],
    secretWarnings: shortSecretWarnings(config).map(named),
  };
}

/**
 * The configuration of this process. `overrides` take precedence over its environment, then the `.env` file of the
 * working directory.
 * `process.env` is read, never written.
 * @throws AppError `CONFIG_INVALID` that lists all errors
 */
export function readConfig(overrides: EnvRecord = {}, use: ConfigUse = {}): LoadedConfig {
  assertNode(process.versions);
  assertNest();
  const { isHost = false, hasFiles = !isHost } = use;
  return loadConfig({ ...use, overrides, env: process.env, ...(hasFiles && { envFile: readEnvFile('.env') }) });
}

/** Default of `DATA_DIR` in a host application, which may have a folder `data` of its own. */
const HOST_DATA_DIR = './.jackdaw';

/** Tests run in several processes at once, each on a store of its own, unless one is set. */
function hostDefaults(given: Readonly<Record<string, string>>, env: EnvRecord): Record<string, string> {
  const isSet = given['DATABASE_URL'] !== undefined || given['DATA_DIR'] !== undefined;
  const isInMemory = !isSet && env['NODE_ENV'] === 'test';
  return { DATA_DIR: HOST_DATA_DIR, ...(isInMemory && { DATABASE_URL: 'sqlite::memory:' }) };
}

/** A server always stays alive. A test ends when it is idle, although another process could use it as a worker. */
function keepAliveOf({ isHost = false, keepAlive }: ConfigUse, env: EnvRecord): boolean | undefined {
  return keepAlive ?? (!isHost || (env['NODE_ENV'] === 'test' ? false : undefined));
}

/** A server waits for the end of an earlier process. A host has other work than Jackdaw's, and starts. */
export function whenLockedOf({ isHost = false, requireStore = false }: ConfigUse): WhenLocked {
  if (!isHost) return 'wait';
  return requireStore ? 'fail' : 'defer';
}

interface Versions {
  readonly node: string;
  readonly napi?: string | undefined;
}

const OTHERS = ['Bun', 'Deno'];

/**
 * An older Node would crash without a message when it loads SQLite, which is compiled for Node-API 10.
 * @throws AppError `CONFIG_INVALID` for a Node older than 22.19, and for Bun and Deno, which imitate Node in part
 */
export function assertNode({ node, napi, ...others }: Versions): void {
  const other = OTHERS.find((name) => name.toLowerCase() in others);
  if (other !== undefined) {
    throw new AppError('CONFIG_INVALID', `Jackdaw does not support ${other}: run the program on Node 24.`);
  }
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) if (Number(napi) >= 10) return;
  throw new AppError(
    'CONFIG_INVALID',
    `Jackdaw needs Node 22.19 or newer; this is ${node}: run the program on Node 24.`,
  );
}

/**
 * npm refuses to install an older Nest beside Jackdaw, other package managers only print a warning.
 * @throws AppError `CONFIG_INVALID` for a Nest older than 11
 */
function assertNest(): void {
  const version = nestVersion();
  if (version === undefined || Number.parseInt(version, 10) >= 11) return;
  const message = `Jackdaw needs Nest 11 or 12; this application has @nestjs/core ${version}: upgrade its Nest packages, as with npm install @nestjs/common@12 @nestjs/core@12.`;
  const error = new AppError('CONFIG_INVALID', message);
  // Node prints the error where the application does not catch it.
  error.stack = `${error.name}: ${message}`;
  throw error;
}

/** The server of clients on this machine, such as the command line. */
export interface ClientTarget {
  /** URL of a server; without it clients use the database of this machine. */
  readonly url?: string;
  /** API key. */
  readonly key?: string;
}

/**
 * `JACKDAW_URL` and `JACKDAW_KEY` of the environment, else of the `.env` file. They are no settings of a server.
 * @throws AppError `CONFIG_INVALID` for a `.env` file that cannot be read
 */
export function readClientTarget(): ClientTarget {
  const file = parseEnvFile(withoutMark(readEnvFile('.env'))).values;
  const read = (name: string) => (process.env[name] ?? file[name])?.trim() || undefined;
  return compact({ url: read('JACKDAW_URL'), key: read('JACKDAW_KEY') });
}

/** The variables of this process, for a program that it starts. */
export function processVariables(): Record<string, string> {
  return compact({ ...process.env }) as Record<string, string>;
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
