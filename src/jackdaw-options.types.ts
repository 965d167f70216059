import type { DynamicModule, FactoryProvider, LoggerService, Type } from '@nestjs/common';
import type { AgentModuleOptions, Extension } from './agent/index.js';
import type { BuiltinToolSelection } from './builtin-tool/index.js';
import type { Configuration, EnvRecord, LoadedConfig } from './config/index.js';
import type { TelemetryOption } from './extension/index.js';
import type { EmbeddingModel, ModelFactory } from './llm/index.js';
import type { McpConfig } from './mcp/index.js';
import type { OwnPartsOptions } from './own-parts.module.js';
import type { RemoteAgentDeclaration } from './remote-agent/index.js';
import type { OpenApiImport, RestToolDeclaration } from './rest-tool/index.js';
import type { Authenticator } from './security/index.js';
import type { SecurityPolicy } from './tool-policy/index.js';
import type { ToolEnhancerOptions } from './tool/method/index.js';
import type { WorkflowInput } from './workflow/index.js';

export interface JackdawOptions extends AgentModuleOptions, OwnPartsOptions, ToolEnhancerOptions {
  /** Variables that override the environment, with or without the prefix `JACKDAW_`, or a loaded configuration. */
  readonly config?: Configuration | LoadedConfig | EnvRecord;
  /**
   * Whether to read `.env` and the files in `config/` (agents, workflows, `mcp-servers.json`, `a2a-agents.json`); default false. Files and
   * folders that variables or options name are always read. `serve` reads them by default.
   */
  readonly files?: boolean;
  /**
   * Whether the application starts only if its process owns the database; default false: calls fail with `DATABASE_LOCKED`
   * until the other process ends. `serve` always waits for the database.
   */
  readonly requireStore?: boolean;
  /**
   * Whether the application keeps the process alive while it is idle, as a worker does; default: only on a database that
   * several processes share, and not under `NODE_ENV=test`. Without it, the process ends after its last run, and in a
   * cluster it takes no runs of other processes.
   */
  readonly keepAlive?: boolean;
  /** Names of the built-in tools to add; `true` (default): those of `BUILTIN_TOOLS`; `false`: none. */
  readonly builtinTools?: BuiltinToolSelection;
  /** Whether to add `remember` and `recall`; by default as `LONG_TERM_MEMORY`. */
  readonly longTermMemory?: boolean;
  /** The application's own embedding model; replaces `EMBEDDING_MODEL`. */
  readonly embeddingModel?: EmbeddingModel;
  /** Custom providers of models, in addition to those of Jackdaw; examples in docs/providers.md. */
  readonly modelFactories?: readonly ModelFactory[];
  /** Providers with `@Tool` methods: classes, which Nest instantiates, or objects. */
  readonly tools?: readonly (Type | object)[];
  /** Extensions: classes, which Nest instantiates, or objects. Other providers that extend `Extension` are discovered too. */
  readonly extensions?: readonly (Type<Extension> | Extension)[];
  /** Whether run events reach `@OnEvent` methods, as `tool.completed` or `tool.*`; by default they do not. */
  readonly runEvents?: boolean;
  /** Workflows in addition to the files in `config/workflows`: built with `WorkflowBuilder`, or as data; docs/workflows.md. */
  readonly workflows?: readonly WorkflowInput[];
  /** Folder of workflow files, `false` for none; by default `WORKFLOWS_DIR`, or else with `files` `config/workflows`. */
  readonly workflowsDir?: string | false;
  /** HTTP endpoints, or those of an OpenAPI document, as tools, in addition to the files of `REST_TOOLS`; docs/rest-tools.md. */
  readonly restTools?: readonly (RestToolDeclaration | OpenApiImport)[];
  /** Folder of agent files (docs/agent-files.md), `false` for none; by default `AGENTS_DIR`, or else with `files` `config/agents`. */
  readonly agentsDir?: string | false;
  /** Folder of skills (docs/skills.md), `false` for none; by default `SKILLS_DIR`, or else with `files` `config/skills`. */
  readonly skillsDir?: string | false;
  /** MCP servers in addition to those of `config/mcp-servers.json`; see docs/mcp.md. */
  readonly mcpServers?: readonly McpConfig[];
  /** Agents of other servers as tools, in addition to those of `config/a2a-agents.json`; see docs/a2a.md. */
  readonly a2aAgents?: readonly RemoteAgentDeclaration[];
  /** Names of the declared MCP servers to use; by default all. */
  readonly mcpOnly?: readonly string[];
  /**
   * Custom authentication (JWT, OIDC): a class, which Nest instantiates, or an object. Over HTTP it replaces API keys.
   * In every use it decides whether the principal of a waiting run may still resume it. docs/authentication.md has an
   * example.
   */
  readonly authenticator?: Type<Authenticator> | Authenticator;
  /** Security policy in addition to `SECURITY_POLICY_FILE`; docs/policies.md. */
  readonly securityPolicy?: SecurityPolicy;
  /** Receives measurements of runs, or all run events; docs/library.md. */
  readonly telemetry?: TelemetryOption;
  /**
   * Receives a debug line for each model call and tool call, and a warning for each failed call. In `serve` it also replaces
   * the log of the server.
   */
  readonly logger?: LoggerService;
  /** When unfinished runs of an earlier process resume: after the start of the application, or at `RunService.recover()`. */
  readonly recovery?: 'at-start' | 'manual';
}

/** Options that a factory can return at the start of the application. */
export type FactoryOptions = Pick<
  JackdawOptions,
  | 'config'
  | 'agents'
  | 'agentChanges'
  | 'chatModel'
  | 'cassette'
  | 'modelFactories'
  | 'securityPolicy'
  | 'workflows'
  | 'workflowsDir'
  | 'restTools'
  | 'agentsDir'
  | 'skillsDir'
  | 'mcpServers'
  | 'a2aAgents'
  | 'mcpOnly'
>;
export type FixedOptions = Omit<JackdawOptions, keyof FactoryOptions>;

/** Options of which a factory returns a part at the start of the application. */
export interface JackdawAsyncOptions extends FixedOptions {
  /** Modules that export the injected providers. */
  readonly imports?: DynamicModule['imports'];
  readonly inject?: FactoryProvider['inject'];
  /** Returns the other options: configuration, agents, models, policies, REST tools and MCP servers. */
  readonly useFactory: (...injected: never[]) => FactoryOptions | Promise<FactoryOptions>;
}
