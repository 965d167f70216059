import {
  Inject,
  Module,
  type DynamicModule,
  type OnApplicationBootstrap,
  type Provider,
  type Type,
} from '@nestjs/common';
import { AgentModule, type AgentModuleOptions } from './agent/index.js';
import { AppConfigModule, type AppConfig, type EnvRecord } from './config/index.js';
import {
  type EmbeddingModel,
  LLM_ENTITIES,
  LLM_MIGRATIONS,
  LlmModule,
  type ModelFactory,
  OwnProvidersModule,
} from './llm/index.js';
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
import { BuiltinToolModule, ToolModule } from './tool/index.js';

/** What an application may inject from. */
const SHARED = [LlmModule, ToolModule, RunModule, SessionModule];

export interface JackdawOptions extends AgentModuleOptions {
  /** A configuration of one's own, or variables that win over the environment. */
  readonly config?: AppConfig | EnvRecord;
  /** Whether `calculator` and `get_timestamp` are there; by default they are. */
  readonly builtinTools?: boolean;
  /** Whether `remember` and `recall` are there; by default as `LONG_TERM_MEMORY` says. */
  readonly longTermMemory?: boolean;
  /** Takes the place of `EMBEDDING_MODEL`: an application's own model. */
  readonly embeddingModel?: EmbeddingModel;
  /** Providers of models of one's own, beside those that come with Jackdaw; docs/providers.md has examples. */
  readonly modelFactories?: readonly ModelFactory[];
  /** Providers with `@Tool` methods: classes, which Nest makes, or objects. */
  readonly tools?: readonly (Type | object)[];
  /**
   * Who asks, in a way of one's own (JWT, OIDC): a class, which Nest makes, or an object. Over HTTP it takes the place of
   * the keys; everywhere it says whether a run that waited may go on. docs/authentication.md has an example.
   */
  readonly authenticator?: Type<Authenticator> | Authenticator;
  /** When unfinished runs of an earlier process go on: once the application has started, or at `RunService.recover()`. */
  readonly recovery?: 'at-start' | 'manual';
}

const RECOVERY = Symbol('RECOVERY');

/** All of Jackdaw but its HTTP side. */
@Module({})
export class JackdawModule implements OnApplicationBootstrap {
  constructor(
    private readonly runs: RunService,
    @Inject(RECOVERY) private readonly recovery: JackdawOptions['recovery'],
  ) {}

  static forRoot(options: JackdawOptions = {}): DynamicModule {
    const {
      config,
      builtinTools = true,
      longTermMemory,
      embeddingModel,
      modelFactories = [],
      tools = [],
      recovery = 'at-start',
      authenticator,
      ...agents
    } = options;
    const memory = LongTermMemoryModule.forRoot({ isEnabled: longTermMemory, embeddingModel });
    return {
      module: JackdawModule,
      imports: [
        AppConfigModule.forRoot(config, authenticator !== undefined),
        PersistenceModule.forRoot({
          entities: [...RUN_ENTITIES, ...SESSION_ENTITIES, ...SECURITY_ENTITIES, ...LLM_ENTITIES],
          migrations: [...RUN_MIGRATIONS, ...SESSION_MIGRATIONS, ...SECURITY_MIGRATIONS, ...LLM_MIGRATIONS],
        }),
        OwnProvidersModule.forRoot(modelFactories),
        EncryptionModule,
        AccessLogModule,
        ...(authenticator ? [PrincipalModule.forRoot(authenticator)] : []),
        AgentModule.forRoot(agents),
        ...SHARED,
        memory,
        ...(builtinTools ? [BuiltinToolModule] : []),
      ],
      providers: [...tools.map(toProvider), { provide: RECOVERY, useValue: recovery }],
      exports: [AgentModule, ...SHARED, memory],
    };
  }

  /** A tick later, so that no other module's start comes after the first tool call. */
  onApplicationBootstrap(): void {
    if (this.recovery === 'at-start') setImmediate(() => void this.runs.recover());
  }
}

function toProvider(tool: Type | object): Provider {
  return typeof tool === 'function' ? (tool as Type) : { provide: Symbol('tools'), useValue: tool };
}
