import { Inject, Module, type DynamicModule, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { AgentModule, Extension } from './agent/index.js';
import { AgentLog, AppError, Log } from './errors/index.js';
import { AsyncOption, moduleFor } from './kernel/nest/index.js';
import { JackdawFeatureModule, type JackdawFeatureOptions, toProvider } from './jackdaw-feature.module.js';
import { assertKnownOptions } from './known-options.policy.js';
import { ServiceTokenModule } from './service-token.module.js';
import { storageModules } from './storage-modules.js';
import { AppConfigModule, loadGiven, type LoadedConfig, withVariables } from './config/index.js';
import { DefinitionFilesModule } from './definition-files/index.js';
import { OwnPartsModule } from './own-parts.module.js';
import { ExtensionModule, loadRunEventModule, reportProviders, RunReportService } from './extension/index.js';
import { LlmModule, OwnProvidersModule } from './llm/index.js';
import { McpModule } from './mcp/index.js';
import { WorkflowModule } from './workflow/index.js';
import { RunModule, RunService } from './run/index.js';
import { ScheduleModule } from './schedule/index.js';
import { OwnershipModule, PrincipalModule } from './security/index.js';
import { AccessLogModule } from './security/access-log/index.js';
import { LongTermMemoryModule, SessionModule } from './session/index.js';
import { BuiltinToolModule } from './builtin-tool/index.js';
import { RemoteAgentModule } from './remote-agent/index.js';
import { RestToolModule } from './rest-tool/index.js';
import { SecurityPolicyModule, ToolSwitchModule } from './tool-policy/index.js';
import { TelemetryModule } from './telemetry/index.js';
import { ToolStateModule } from './tool-state/index.js';
import { ToolModule } from './tool/index.js';
import { ToolEnhancerModule } from './tool/method/index.js';
import { WebhookModule } from './webhook/index.js';
import type { FactoryOptions, FixedOptions, JackdawAsyncOptions, JackdawOptions } from './jackdaw-options.types.js';

export type { JackdawAsyncOptions, JackdawOptions } from './jackdaw-options.types.js';

/** Modules whose exports the application can inject. */
const SHARED = [LlmModule, ToolModule, RunModule, SessionModule];

const FACTORY_OPTIONS = Symbol('FACTORY_OPTIONS');

@Module({})
class FactoryModule {}

type Imports = NonNullable<DynamicModule['imports']>;

const RECOVERY = Symbol('RECOVERY');

/** All of Jackdaw except HTTP. */
@Module({})
export class JackdawModule implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Log('Jackdaw');
  private starting: NodeJS.Immediate | undefined;

  constructor(
    private readonly runs: RunService,
    @Inject(RECOVERY) private readonly recovery: JackdawOptions['recovery'],
  ) {
    AgentLog.count(this, true);
  }

  /** Equal options return the same module, so repeated imports create one Jackdaw. Other modules add to it with `forFeature`. */
  static forRoot(options: JackdawOptions = {}): DynamicModule {
    assertKnownOptions('JackdawModule.forRoot', options);
    const loaded = loadGiven(givenOf(options), useOf(options));
    return moduleFor({ ...options, config: loaded }, () => JackdawModule.assemble(options, options, loaded));
  }

  /**
   * As `forRoot`, with options from a factory with injected providers.
   * @param options the factory, and the options that select modules
   */
  static forRootAsync(options: JackdawAsyncOptions): DynamicModule {
    assertKnownOptions('JackdawModule.forRootAsync', options);
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
    const module = JackdawModule.assemble(options, new AsyncOption([FACTORY_OPTIONS], checked));
    return { ...module, imports: [factoryModule, ...(module.imports ?? [])] };
  }

  /** Adds parts of a feature module, such as tools, to the Jackdaw module of the root module. */
  static forFeature(feature: JackdawFeatureOptions): DynamicModule {
    assertKnownOptions('JackdawModule.forFeature', feature);
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
      of(factoryOptions, ({ skillsDir }) => ({ dir: skillsDir })),
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
        ...additions(options, factoryOptions),
      ],
      providers: [
        ...[...tools, ...extensions].map(toProvider),
        { provide: RECOVERY, useValue: recovery },
        ...reportProviders(options),
      ],
      exports: [
        AgentModule,
        WebhookModule,
        ScheduleModule,
        ...SHARED,
        memory,
        rest,
        mcp,
        workflows,
        ExtensionModule,
        RunReportService,
      ],
    };
  }

  /** Starts the recovery one tick later: no start hook of another module then runs after the first tool call. */
  onApplicationBootstrap(): void {
    if (this.recovery === 'at-start') this.starting = setImmediate(() => this.recover());
  }

  /** Cancels a recovery that has not started; the run module ends a started one. */
  onModuleDestroy(): void {
    clearImmediate(this.starting);
    AgentLog.count(this, false);
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

function checked(made: FactoryOptions): FactoryOptions {
  assertKnownOptions('JackdawModule.forRootAsync: useFactory', made);
  return made;
}

/** Selects a part of the options, which may be asynchronous. */
function of<T>(
  factoryOptions: FactoryOptions | AsyncOption<FactoryOptions>,
  part: (options: FactoryOptions) => T,
): T | AsyncOption<T> {
  return factoryOptions instanceof AsyncOption ? factoryOptions.map(part) : part(factoryOptions);
}

function useOf({ authenticator, files = false, requireStore = false, keepAlive }: FixedOptions) {
  return { hasAuthenticator: authenticator !== undefined, isHost: true, hasFiles: files, requireStore, keepAlive };
}

function configOf(factoryOptions: FactoryOptions | AsyncOption<FactoryOptions>) {
  return of(factoryOptions, givenOf);
}

/** The configuration knows the cassette, as a replay needs no key of a provider. */
function givenOf({ config = {}, cassette }: FactoryOptions) {
  if (!cassette) return config;
  const { file, mode, tools } = cassette;
  return withVariables(config, { LLM_CASSETTE: file, LLM_CASSETTE_MODE: mode, LLM_CASSETTE_TOOLS: tools });
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
      of(factoryOptions, ({ agents, agentChanges, chatModel, cassette }) => ({
        ...(agents && { agents }),
        ...(agentChanges && { agentChanges }),
        ...(chatModel && { chatModel }),
        ...(cassette && { cassette }),
      })),
      { ...(promptBuilder && { promptBuilder }), ...(processors && { processors }) },
    ),
  ];
}

function additions(
  { builtinTools, runEvents = false }: FixedOptions,
  factoryOptions: FactoryOptions | AsyncOption<FactoryOptions>,
): Imports {
  const remote = RemoteAgentModule.forRoot(of(factoryOptions, ({ a2aAgents = [] }) => a2aAgents));
  const builtin = builtinTools === false ? [] : [BuiltinToolModule.forRoot(builtinTools)];
  const always = [ServiceTokenModule, TelemetryModule, WebhookModule, ScheduleModule, ExtensionModule];
  return [...builtin, remote, ...always, ...(runEvents ? [loadRunEventModule()] : [])];
}
