import {
  Inject,
  Logger,
  Module,
  type DynamicModule,
  type FactoryProvider,
  type LoggerService,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type Type,
} from '@nestjs/common';
import { AgentModule, type AgentModuleOptions, Extension } from './agent/index.js';
import { AppError } from './errors/index.js';
import { AsyncOption, moduleFor } from './kernel/index.js';
import { JackdawFeatureModule, type JackdawFeatureOptions, toProvider } from './jackdaw-feature.module.js';
import { storageModules } from './storage-modules.js';
import { AppConfigModule, type Configuration, type EnvRecord, loadGiven, type LoadedConfig } from './config/index.js';
import { DefinitionFilesModule } from './definition-files/index.js';
import { OwnPartsModule, type OwnPartsOptions } from './own-parts.module.js';
import {
  ExtensionModule,
  loadRunEventModule,
  reportProviders,
  RunReportService,
  type TelemetryOption,
} from './extension/index.js';
import { type EmbeddingModel, LlmModule, type ModelFactory, OwnProvidersModule } from './llm/index.js';
import { type McpConfig, McpModule } from './mcp/index.js';
import { type WorkflowInput, WorkflowModule } from './workflow/index.js';
import { RunModule, RunService } from './run/index.js';
import { AccessLogModule, OwnershipModule, PrincipalModule, type Authenticator } from './security/index.js';
import { LongTermMemoryModule, SessionModule } from './session/index.js';
import { BuiltinToolModule, type BuiltinToolSelection } from './builtin-tool/index.js';
import { type OpenApiImport, type RestToolDeclaration, RestToolModule } from './rest-tool/index.js';
import { type SecurityPolicy, SecurityPolicyModule, ToolSwitchModule } from './tool-policy/index.js';
import { ToolStateModule } from './tool-state/index.js';
import { ToolEnhancerModule, type ToolEnhancerOptions, ToolModule } from './tool/index.js';

/** Modules whose exports the application can inject. */
const SHARED = [LlmModule, ToolModule, RunModule, SessionModule];

export interface JackdawOptions extends AgentModuleOptions, OwnPartsOptions, ToolEnhancerOptions {
  /** Variables that override the environment, with or without the prefix `JACKDAW_`, or a loaded configuration. */
  readonly config?: Configuration | LoadedConfig | EnvRecord;
  /**
   * Whether to read `.env` and the files in `config/` (agents, workflows, `mcp-servers.json`); default false. Files and
   * folders that variables or options name are always read. `serve` reads them by default.
   */
  readonly files?: boolean;
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
  /** MCP servers in addition to those of `config/mcp-servers.json`; see docs/mcp.md. */
  readonly mcpServers?: readonly McpConfig[];
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
type FactoryOptions = Pick<
  JackdawOptions,
  | 'config'
  | 'agents'
  | 'agentChanges'
  | 'chatModel'
  | 'modelFactories'
  | 'securityPolicy'
  | 'workflows'
  | 'workflowsDir'
  | 'restTools'
  | 'agentsDir'
  | 'mcpServers'
  | 'mcpOnly'
>;
type FixedOptions = Omit<JackdawOptions, keyof FactoryOptions>;

/** Options of which a factory returns a part at the start of the application. */
export interface JackdawAsyncOptions extends FixedOptions {
  /** Modules that export the injected providers. */
  readonly imports?: Imports;
  readonly inject?: FactoryProvider['inject'];
  /** Returns the other options: configuration, agents, models, policies, REST tools and MCP servers. */
  readonly useFactory: (...injected: never[]) => FactoryOptions | Promise<FactoryOptions>;
}

const FACTORY_OPTIONS = Symbol('FACTORY_OPTIONS');

@Module({})
class FactoryModule {}

type Imports = NonNullable<DynamicModule['imports']>;

const RECOVERY = Symbol('RECOVERY');

/** All of Jackdaw except HTTP. */
@Module({})
export class JackdawModule implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Jackdaw');
  private starting: NodeJS.Immediate | undefined;

  constructor(
    private readonly runs: RunService,
    @Inject(RECOVERY) private readonly recovery: JackdawOptions['recovery'],
  ) {}

  /** Equal options return the same module, so repeated imports create one Jackdaw. Other modules add to it with `forFeature`. */
  static forRoot(options: JackdawOptions = {}): DynamicModule {
    const loaded = loadGiven(options.config ?? {}, useOf(options));
    return moduleFor({ ...options, config: loaded }, () => JackdawModule.assemble(options, options, loaded));
  }

  /**
   * As `forRoot`, with options from a factory with injected providers.
   * @param options the factory, and the options that select modules
   */
  static forRootAsync(options: JackdawAsyncOptions): DynamicModule {
    return moduleFor(options, () => JackdawModule.assembleAsync(options));
  }

  private static assembleAsync({
    imports = [],
    inject = [],
    useFactory,
    ...options
  }: JackdawAsyncOptions): DynamicModule {
    const factoryModule: DynamicModule = {
      module: FactoryModule,
      global: true,
      imports,
      providers: [{ provide: FACTORY_OPTIONS, useFactory, inject }],
      exports: [FACTORY_OPTIONS],
    };
    const module = JackdawModule.assemble(options, new AsyncOption([FACTORY_OPTIONS], (made: FactoryOptions) => made));
    return { ...module, imports: [factoryModule, ...(module.imports ?? [])] };
  }

  /** Adds parts of a feature module, such as tools, to the Jackdaw module of the root module. */
  static forFeature(feature: JackdawFeatureOptions): DynamicModule {
    return JackdawFeatureModule.with(feature);
  }

  private static assemble(
    options: FixedOptions,
    factoryOptions: FactoryOptions | AsyncOption<FactoryOptions>,
    loaded?: LoadedConfig,
  ): DynamicModule {
    const { tools = [], extensions = [], recovery = 'at-start', longTermMemory, embeddingModel } = options;
    assertExtensions(extensions);
    const rest = RestToolModule.forRoot(of(factoryOptions, ({ restTools = [] }) => restTools));
    const mcp = McpModule.forRoot(
      of(factoryOptions, ({ mcpServers: servers = [], mcpOnly: only }) => ({ servers, only })),
    );
    const files = DefinitionFilesModule.forRoot(
      of(factoryOptions, ({ agentsDir }) => ({ dir: agentsDir })),
      of(factoryOptions, ({ workflowsDir }) => ({ dir: workflowsDir })),
    );
    const workflows = WorkflowModule.forRoot(of(factoryOptions, (made) => ({ workflows: made.workflows ?? [] })));
    const memory = LongTermMemoryModule.forRoot({ isEnabled: longTermMemory, embeddingModel });
    return {
      module: JackdawModule,
      imports: [
        loaded ? AppConfigModule.of(loaded) : AppConfigModule.forRoot(configOf(factoryOptions), useOf(options)),
        ...foundations(options, factoryOptions),
        ...SHARED,
        memory,
        rest,
        mcp,
        files,
        workflows,
        ...additions(options),
      ],
      providers: [
        ...[...tools, ...extensions].map(toProvider),
        { provide: RECOVERY, useValue: recovery },
        ...reportProviders(options),
      ],
      exports: [AgentModule, ...SHARED, memory, rest, mcp, workflows, ExtensionModule, RunReportService],
    };
  }

  /** Starts the recovery one tick later: no start hook of another module then runs after the first tool call. */
  onApplicationBootstrap(): void {
    if (this.recovery === 'at-start') this.starting = setImmediate(() => this.recover());
  }

  /** Cancels a recovery that has not started; the run module ends a started one. */
  onModuleDestroy(): void {
    clearImmediate(this.starting);
  }

  private recover(): void {
    this.runs.recover().catch((err: unknown) => {
      this.logger.error({ err }, 'Run recovery failed; it is retried at the next start');
    });
  }
}

/** Rejects objects that only look like extensions; Jackdaw would never call them. @throws AppError `EXTENSION_INVALID` */
function assertExtensions(extensions: NonNullable<JackdawOptions['extensions']>): void {
  for (const [at, extension] of extensions.entries()) {
    const instance: unknown = typeof extension === 'function' ? extension.prototype : extension;
    if (instance instanceof Extension) continue;
    throw new AppError('EXTENSION_INVALID', `extensions[${at}] is not an extension: its class must extend Extension.`);
  }
}

/** Selects a part of the options, which may be asynchronous. */
function of<T>(
  factoryOptions: FactoryOptions | AsyncOption<FactoryOptions>,
  part: (options: FactoryOptions) => T,
): T | AsyncOption<T> {
  return factoryOptions instanceof AsyncOption ? factoryOptions.map(part) : part(factoryOptions);
}

function useOf({ authenticator, files = false }: FixedOptions) {
  return { hasAuthenticator: authenticator !== undefined, isHost: true, hasFiles: files };
}

function configOf(factoryOptions: FactoryOptions | AsyncOption<FactoryOptions>) {
  return of(factoryOptions, ({ config = {} }) => config);
}

function foundations(options: FixedOptions, factoryOptions: FactoryOptions | AsyncOption<FactoryOptions>): Imports {
  const { authenticator, promptBuilder, processors } = options;
  return [
    ...storageModules(),
    OwnPartsModule.forRoot(options),
    ToolEnhancerModule.forRoot(options),
    OwnProvidersModule.forRoot(of(factoryOptions, ({ modelFactories = [] }) => modelFactories)),
    OwnershipModule,
    AccessLogModule,
    ToolSwitchModule,
    ToolStateModule,
    SecurityPolicyModule.forRoot(of(factoryOptions, ({ securityPolicy }) => securityPolicy)),
    ...(authenticator ? [PrincipalModule.forRoot(authenticator)] : []),
    AgentModule.forRoot(
      of(factoryOptions, ({ agents, agentChanges, chatModel }) => ({
        ...(agents && { agents }),
        ...(agentChanges && { agentChanges }),
        ...(chatModel && { chatModel }),
      })),
      { ...(promptBuilder && { promptBuilder }), ...(processors && { processors }) },
    ),
  ];
}

function additions({ builtinTools, runEvents = false }: FixedOptions): Imports {
  const builtin = builtinTools === false ? [] : [BuiltinToolModule.forRoot(builtinTools)];
  return [...builtin, ExtensionModule, ...(runEvents ? [loadRunEventModule()] : [])];
}
