import {
  Inject,
  Logger,
  Module,
  type DynamicModule,
  type FactoryProvider,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type Type,
} from '@nestjs/common';
import { AgentModule, type AgentModuleOptions, Extension } from './agent/index.js';
import { AppError, Later } from './common/index.js';
import { JackdawFeatureModule, type JackdawFeatureOptions, toProvider } from './jackdaw-feature.module.js';
import { AppConfigModule, type AppConfig, type EnvRecord, loadGiven, type LoadedConfig } from './config/index.js';
import { DpmlModule } from './dpml/index.js';
import { ExtensionModule, loadRunEventModule } from './extension/index.js';
import {
  type EmbeddingModel,
  LLM_ENTITIES,
  LLM_MIGRATIONS,
  LlmModule,
  type ModelFactory,
  OwnProvidersModule,
} from './llm/index.js';
import { MCP_ENTITIES, MCP_MIGRATIONS, type McpConfig, McpModule } from './mcp/index.js';
import { type WorkflowInput, WorkflowModule } from './workflow/index.js';
import { moduleFor } from './module.registry.js';
import { PersistenceModule } from './persistence/index.js';
import { RUN_ENTITIES, RUN_MIGRATIONS, RunModule, RunService } from './run/index.js';
import {
  AccessLogModule,
  EncryptionModule,
  PrincipalModule,
  SECURITY_ENTITIES,
  SECURITY_MIGRATIONS,
  type Authenticator,
} from './security/index.js';
import { LongTermMemoryModule, SESSION_ENTITIES, SESSION_MIGRATIONS, SessionModule } from './session/index.js';
import {
  BuiltinToolModule,
  type OpenApiImport,
  type RestToolDeclaration,
  RestToolModule,
  SecurityPolicyModule,
  type SecurityPolicy,
  TOOL_ENTITIES,
  TOOL_MIGRATIONS,
  ToolModule,
  ToolStateModule,
  ToolSwitchModule,
} from './tool/index.js';

/** What an application may inject from. */
const SHARED = [LlmModule, ToolModule, RunModule, SessionModule];

export interface JackdawOptions extends AgentModuleOptions {
  /** A configuration of one's own, or variables that win over the environment. */
  readonly config?: AppConfig | EnvRecord;
  /** Whether `calculator`, `get_timestamp`, `string_tools` and `sequentialthinking` are there; by default they are. */
  readonly builtinTools?: boolean;
  /** Whether `remember` and `recall` are there; by default as `LONG_TERM_MEMORY` says. */
  readonly longTermMemory?: boolean;
  /** Takes the place of `EMBEDDING_MODEL`: an application's own model. */
  readonly embeddingModel?: EmbeddingModel;
  /** Providers of models of one's own, beside those that come with Jackdaw; docs/providers.md has examples. */
  readonly modelFactories?: readonly ModelFactory[];
  /** Providers with `@Tool` methods: classes, which Nest makes, or objects. */
  readonly tools?: readonly (Type | object)[];
  /** Classes, which Nest makes, or objects; any other provider that is an `Extension` is found too. */
  readonly extensions?: readonly (Type<Extension> | Extension)[];
  /** Whether run events reach `@OnEvent` methods, as `tool.completed` or `tool.*`; by default they do not. */
  readonly runEvents?: boolean;
  /** Workflows beside those of the files in `config/workflows`: built with `WorkflowBuilder`, or as data; docs/workflows.md. */
  readonly workflows?: readonly WorkflowInput[];
  /** The folder of workflows' files, `false` for none; by default as `WORKFLOWS_DIR` says, or else `config/workflows` if it is there. */
  readonly workflowsDir?: string | false;
  /** Endpoints, or an OpenAPI document's, as tools beside those of the files that `REST_TOOLS` names; see docs/rest-tools.md. */
  readonly restTools?: readonly (RestToolDeclaration | OpenApiImport)[];
  /**
   * The folder of agents' files (docs/agent-files.md), `false` for none; by default as `AGENTS_DIR` says, or else
   * `config/agents` if it is there.
   */
  readonly agentsDir?: string | false;
  /** MCP servers beside those of `config/mcp-servers.json`; see docs/mcp.md. */
  readonly mcpServers?: readonly McpConfig[];
  /** The names of those that are taken up, of all that are declared anywhere; all when left out. */
  readonly mcpOnly?: readonly string[];
  /**
   * Who asks, in a way of one's own (JWT, OIDC): a class, which Nest makes, or an object. Over HTTP it takes the place of
   * the keys; everywhere it says whether a run that waited may go on. docs/authentication.md has an example.
   */
  readonly authenticator?: Type<Authenticator> | Authenticator;
  /** What agents may do, beside what `SECURITY_POLICY_FILE` says; docs/policies.md. */
  readonly securityPolicy?: SecurityPolicy;
  /** When unfinished runs of an earlier process go on: once the application has started, or at `RunService.recover()`. */
  readonly recovery?: 'at-start' | 'manual';
}

/** What may be known only once the application begins. */
type LaterOptions = Pick<
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
type FixedOptions = Omit<JackdawOptions, keyof LaterOptions>;

/** Options of which a part is made when the application begins. */
export interface JackdawAsyncOptions extends FixedOptions {
  /** Modules that give what is injected. */
  readonly imports?: Imports;
  readonly inject?: FactoryProvider['inject'];
  /** Makes the rest: configuration, agents, models, policies, and tools of endpoints and MCP servers. */
  readonly useFactory: (...injected: never[]) => LaterOptions | Promise<LaterOptions>;
}

const LATER = Symbol('LATER');

@Module({})
class LaterModule {}

type Imports = NonNullable<DynamicModule['imports']>;

const RECOVERY = Symbol('RECOVERY');

/** All of Jackdaw but its HTTP side. */
@Module({})
export class JackdawModule implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Jackdaw');
  private starting: NodeJS.Immediate | undefined;

  constructor(
    private readonly runs: RunService,
    @Inject(RECOVERY) private readonly recovery: JackdawOptions['recovery'],
  ) {}

  /** With the same options it is one module, however often an application imports it; other modules add to it with `forFeature`. */
  static forRoot(options: JackdawOptions = {}): DynamicModule {
    const loaded = loadGiven(options.config ?? {}, options.authenticator !== undefined);
    return moduleFor({ ...options, config: loaded }, () => JackdawModule.assemble(options, options, loaded));
  }

  /**
   * The same with options that are there only once the application begins, made of what is injected.
   * @param options beside them, what says which modules there are
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
    const later: DynamicModule = {
      module: LaterModule,
      global: true,
      imports,
      providers: [{ provide: LATER, useFactory, inject }],
      exports: [LATER],
    };
    const module = JackdawModule.assemble(options, new Later([LATER], (made: LaterOptions) => made));
    return { ...module, imports: [later, ...(module.imports ?? [])] };
  }

  /** What a module of the application adds to what its root has imported. */
  static forFeature(feature: JackdawFeatureOptions): DynamicModule {
    return JackdawFeatureModule.with(feature);
  }

  private static assemble(
    options: FixedOptions,
    given: LaterOptions | Later<LaterOptions>,
    loaded?: LoadedConfig,
  ): DynamicModule {
    const { tools = [], extensions = [], recovery = 'at-start', longTermMemory, embeddingModel } = options;
    assertExtensions(extensions);
    const rest = RestToolModule.forRoot(of(given, ({ restTools = [] }) => restTools));
    const mcp = McpModule.forRoot(
      of(given, ({ mcpServers = [], mcpOnly }) => ({ servers: mcpServers, only: mcpOnly })),
    );
    const files = DpmlModule.forRoot(
      of(given, ({ agentsDir }) => ({ dir: agentsDir })),
      of(given, ({ workflowsDir }) => ({ dir: workflowsDir })),
    );
    const workflows = WorkflowModule.forRoot(of(given, (made) => ({ workflows: made.workflows ?? [] })));
    const memory = LongTermMemoryModule.forRoot({ isEnabled: longTermMemory, embeddingModel });
    return {
      module: JackdawModule,
      imports: [
        loaded ? AppConfigModule.of(loaded) : configured(options, given),
        ...foundations(options, given),
        ...SHARED,
        memory,
        rest,
        mcp,
        files,
        workflows,
        ...additions(options),
      ],
      providers: [...[...tools, ...extensions].map(toProvider), { provide: RECOVERY, useValue: recovery }],
      exports: [AgentModule, ...SHARED, memory, rest, mcp, workflows, ExtensionModule],
    };
  }

  /** A tick later, so that no other module's start comes after the first tool call. */
  onApplicationBootstrap(): void {
    if (this.recovery === 'at-start') this.starting = setImmediate(() => this.recover());
  }

  /** The run module ends a recovery that has already started. */
  onModuleDestroy(): void {
    clearImmediate(this.starting);
  }

  private recover(): void {
    this.runs.recover().catch((err: unknown) => {
      this.logger.error({ err }, 'Unfinished runs could not be resumed; they are resumed at the next start');
    });
  }
}

/** What has an extension's members and is none would never be called. @throws AppError `EXTENSION_INVALID` */
function assertExtensions(extensions: NonNullable<JackdawOptions['extensions']>): void {
  for (const [at, given] of extensions.entries()) {
    const instance: unknown = typeof given === 'function' ? given.prototype : given;
    if (instance instanceof Extension) continue;
    throw new AppError('EXTENSION_INVALID', `extensions[${at}] is no extension: let its class extend Extension.`);
  }
}

/** A part of what is given, or will be. */
function of<T>(given: LaterOptions | Later<LaterOptions>, part: (options: LaterOptions) => T): T | Later<T> {
  return given instanceof Later ? given.map(part) : part(given);
}

function configured({ authenticator }: FixedOptions, given: LaterOptions | Later<LaterOptions>): DynamicModule {
  const configOf = ({ config = {} }: LaterOptions) => config;
  return AppConfigModule.forRoot(of(given, configOf), authenticator !== undefined);
}

function foundations(options: FixedOptions, given: LaterOptions | Later<LaterOptions>): Imports {
  const { authenticator, promptBuilder, processors } = options;
  return [
    PersistenceModule.forRoot({
      entities: [
        ...RUN_ENTITIES,
        ...SESSION_ENTITIES,
        ...SECURITY_ENTITIES,
        ...LLM_ENTITIES,
        ...TOOL_ENTITIES,
        ...MCP_ENTITIES,
      ],
      migrations: [
        ...RUN_MIGRATIONS,
        ...SESSION_MIGRATIONS,
        ...SECURITY_MIGRATIONS,
        ...LLM_MIGRATIONS,
        ...TOOL_MIGRATIONS,
        ...MCP_MIGRATIONS,
      ],
    }),
    OwnProvidersModule.forRoot(of(given, ({ modelFactories = [] }) => modelFactories)),
    EncryptionModule,
    AccessLogModule,
    ToolSwitchModule,
    ToolStateModule,
    SecurityPolicyModule.forRoot(of(given, ({ securityPolicy }) => securityPolicy)),
    ...(authenticator ? [PrincipalModule.forRoot(authenticator)] : []),
    AgentModule.forRoot(
      of(given, ({ agents, agentChanges, chatModel }) => ({
        ...(agents && { agents }),
        ...(agentChanges && { agentChanges }),
        ...(chatModel && { chatModel }),
      })),
      { ...(promptBuilder && { promptBuilder }), ...(processors && { processors }) },
    ),
  ];
}

function additions({ builtinTools = true, runEvents = false }: FixedOptions): Imports {
  return [...(builtinTools ? [BuiltinToolModule] : []), ExtensionModule, ...(runEvents ? [loadRunEventModule()] : [])];
}
