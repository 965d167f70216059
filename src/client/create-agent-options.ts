import type { LoggerService, Type } from '@nestjs/common';
import type { Extension } from '../agent/index.js';
import type { GivenFormat } from '../agent/answer/index.js';
import type { AgentDefinitionInput } from '../agent/definition/index.js';
import type { EnvRecord } from '../config/index.js';
import { AppError } from '../errors/index.js';
import type { JackdawOptions } from '../jackdaw.module.js';
import type { Principal } from '../kernel/index.js';
import type { LlmOptions, ModelFactory } from '../llm/index.js';
import type { Cassette } from '../llm/cassette/index.js';
import type { ChatModel } from '../llm/chat/index.js';
import type { SecurityPolicy } from '../tool-policy/index.js';

/** Store of an agent's conversations; the sessions themselves stay in the journal's database. */
export interface MemoryPersistence {
  /** False: conversations end with the process. */
  readonly enabled: boolean;
  /** `file`: in `DATA_DIR`. `database` and `redis`: at `config.url`. */
  readonly driver?: 'file' | 'database' | 'redis';
  readonly config?: {
    /** By default the database of the runs, or `REDIS_URL`. A URL as in `SESSION_STORE`. */
    readonly url?: string;
  };
}

const DRIVERS: readonly unknown[] = ['file', 'database', 'redis'];

const STORE_NAMES = ['SESSION_STORE', 'JACKDAW_SESSION_STORE', 'JACKDAW_SESSION_STORE_FILE'];

/**
 * The variables of a persistence.
 * @param env the other variables given in code
 * @throws AppError `AGENT_INVALID`
 */
export function toStoreEnv(persistence: MemoryPersistence | undefined, env: EnvRecord): EnvRecord {
  if (persistence === undefined) return {};
  const problem = problemOf(persistence);
  if (problem !== undefined) throw new AppError('AGENT_INVALID', `createAgent: memory.persistence${problem}.`);
  const twice = STORE_NAMES.find((name) => env[name] !== undefined);
  if (twice !== undefined) {
    const message = `createAgent: memory.persistence and config.${twice} are the same option: give one of them.`;
    throw new AppError('AGENT_INVALID', message);
  }
  const { enabled, driver, config } = persistence;
  return { SESSION_STORE: enabled ? (config?.url ?? driver!) : 'memory', SESSION_STORE_FILE: '' };
}

function problemOf(persistence: MemoryPersistence): string | undefined {
  const { enabled, driver, config = {}, ...unknown } = persistence;
  const [other] = [...Object.keys(unknown), ...Object.keys(config).filter((key) => key !== 'url')];
  if (other !== undefined) return ` has an unknown ${other} (known: enabled, driver, config.url)`;
  if (typeof enabled !== 'boolean') return '.enabled is missing: give true or false';
  if (!enabled)
    return driver === undefined && config.url === undefined ? undefined : ' is not enabled: omit its driver';
  if (!DRIVERS.includes(driver)) return `.driver is ${JSON.stringify(driver)}: use "file", "database" or "redis"`;
  return config.url === undefined ? undefined : urlProblem(driver!, config.url);
}

function urlProblem(driver: NonNullable<MemoryPersistence['driver']>, url: string): string | undefined {
  if (driver === 'file') return '.config.url has no effect with the driver "file", whose files are in DATA_DIR';
  const isRedis = /^rediss?:\/\//i.test(url);
  if (driver === 'redis') return isRedis ? undefined : '.config.url is no redis:// URL';
  return isRedis || !/^[a-z]+:/i.test(url) ? '.config.url is no database URL' : undefined;
}

/** A declared MCP server. */
export interface McpChoice {
  readonly enabled: boolean;
  readonly name: string;
}

export interface CreateAgentOptions {
  /**
   * The whole agent definition, such as the result of `parseAgent`; its `tools` are names of registered tools. It
   * replaces `name`, `instructions`, `prompt`, `llm`, `model`, `limits`, `memory` and `responseFormat`. The keys of its
   * provider come from the environment or `config`.
   */
  readonly agent?: AgentDefinitionInput;
  /** Default: `default`. */
  readonly name?: string;
  readonly instructions?: string;
  /** An alias of `instructions`; give one of them. */
  readonly prompt?: string;
  /** The model in short form; overrides the environment and `config`. Excludes `chatModel`. */
  readonly llm?: LlmOptions;
  /** Model settings that differ from the environment: `{ name, parameters, capabilities, provider }`. */
  readonly model?: Partial<AgentDefinitionInput['model']>;
  /** A custom chat model; replaces every provider. */
  readonly chatModel?: ChatModel;
  /** Answers the model calls from a file, or records them: its path, for the mode `auto`, or a `Cassette`; docs/testing.md. */
  readonly cassette?: string | Cassette;
  /** Custom providers, in addition to those of Jackdaw. */
  readonly modelFactories?: readonly ModelFactory[];
  /**
   * Variables that override the environment, as in docs/configuration.md: `{ OPENAI_API_KEY: …, DATA_DIR: … }`. In the
   * environment those of Jackdaw have the prefix `JACKDAW_`.
   */
  readonly config?: EnvRecord;
  /** @deprecated The former name of `config`. */
  readonly env?: EnvRecord;
  /** Whether to read `.env` and `config/mcp-servers.json`; default false. */
  readonly files?: boolean;
  /** Whether the idle agent keeps the process alive; default: only on a database that several processes share. */
  readonly keepAlive?: JackdawOptions['keepAlive'];
  /** Whether `createAgent` fails if another process owns the database; default false: the calls of the agent fail. */
  readonly requireStore?: boolean;
  /** Providers with `@Tool` methods: classes, which Nest instantiates, or objects. */
  readonly tools?: readonly (Type | object)[];
  /** Extensions: classes, which Nest instantiates, or objects. */
  readonly extensions?: readonly (Type<Extension> | Extension)[];
  /** Whether run events reach `@OnEvent` methods of tools and extensions; by default they do not. */
  readonly runEvents?: boolean;
  /**
   * Selects the MCP server whose tools the agent has, of those from `registerMcp`, `mcpServers` or the file; with
   * `enabled: false` it has none. If omitted, it has the tools of all servers. `createAgent` waits for the connection.
   */
  readonly mcp?: McpChoice;
  /** MCP servers in addition to those of `config/mcp-servers.json` and `registerMcp`. */
  readonly mcpServers?: JackdawOptions['mcpServers'];
  /** Agents of other servers as tools; docs/a2a.md. */
  readonly a2aAgents?: JackdawOptions['a2aAgents'];
  /** Workflows for `runWorkflow`; the agent reads no folder of workflows. */
  readonly workflows?: JackdawOptions['workflows'];
  /** HTTP endpoints as tools. */
  readonly restTools?: JackdawOptions['restTools'];
  /** Names of the built-in tools to add; `true`: those of `BUILTIN_TOOLS`; `false` (default): none. */
  readonly builtinTools?: JackdawOptions['builtinTools'];
  readonly limits?: AgentDefinitionInput['limits'];
  /** Spending limits, each with `tokens`, `cost` or both: `{ run: { tokens: 50_000 } }`. */
  readonly budgets?: AgentDefinitionInput['budgets'];
  /** Restrictions in addition to the security policy; docs/policies.md. */
  readonly guardrails?: AgentDefinitionInput['guardrails'];
  /** Whether the model calls tools by JavaScript scripts (experimental); docs/code-mode.md. */
  readonly codeMode?: boolean;
  /** Names of tools whose calls all need approval; `*` matches any characters. */
  readonly approvals?: AgentDefinitionInput['approvals'];
  /** Names of its skills, of those in `skillsDir`; `*` matches any characters. Default: all. */
  readonly skills?: AgentDefinitionInput['skills'];
  /** Folder of skills, `false` for none; by default `SKILLS_DIR`, or else with `files` `config/skills`. */
  readonly skillsDir?: JackdawOptions['skillsDir'];
  /** Format of its answers: `json`, a JSON Schema or a Standard Schema such as zod's; the value is `output`. */
  readonly responseFormat?: GivenFormat;
  /**
   * What `chat` does at the limit of iterations: `answer` (default) returns the last text with `isComplete: false`, `throw`
   * throws an `IterationLimitError` that carries this reply.
   */
  readonly onIterationLimit?: 'answer' | 'throw';
  /** The part of the session's history that a run receives, and the store of the conversations. */
  readonly memory?: AgentDefinitionInput['memory'] & { readonly persistence?: MemoryPersistence };
  /** Stores replies of models and results of tools: a class, which Nest instantiates, or an object. */
  readonly cache?: JackdawOptions['cache'];
  /** Stores the turns of sessions, in place of `memory.persistence`: a class, which Nest instantiates, or an object. */
  readonly sessionStore?: JackdawOptions['sessionStore'];
  /** Stores of tool states by name. A tool selects one with `stateful: { manager: name }`. */
  readonly stateManagers?: JackdawOptions['stateManagers'];
  /** Memories by name. The agent selects one with `memory: { policy: name }`. */
  readonly memories?: JackdawOptions['memories'];
  /** Security policy in addition to `SECURITY_POLICY_FILE`. */
  readonly securityPolicy?: SecurityPolicy;
  /**
   * Principal of the agent's requests; by default `local` of the tenant `default`. Without the role `admin` it sees its own
   * sessions and runs, unless its `visibility` is `all`.
   */
  readonly principal?: Principal;
  /**
   * Receives the lines of Jackdaw, also a debug line for each model call and tool call, and a warning with tool, masked arguments
   * and duration for each failed call. By default they go to Nest's logger, in a script warnings and errors only. `setLogger`
   * replaces it.
   */
  readonly logger?: LoggerService;
  /**
   * Receives measurements (`Telemetry`), or, as a function, everything that runs record, once it is durable. Runs do not
   * wait for it; its errors are logged. `setTelemetry` replaces it.
   */
  readonly telemetry?: JackdawOptions['telemetry'];
}
