import { Module, type DynamicModule, type Provider, type Type } from '@nestjs/common';
import { AgentModule, type AgentModuleOptions } from './agent/index.js';
import { AppConfigModule, type AppConfig, type EnvRecord } from './config/index.js';
import { PersistenceModule } from './persistence/index.js';
import { RUN_ENTITIES, RUN_MIGRATIONS } from './run/index.js';
import { SESSION_ENTITIES, SESSION_MIGRATIONS } from './session/index.js';
import { BuiltinToolModule } from './tool/index.js';

export interface JackdawOptions extends AgentModuleOptions {
  /** A configuration of one's own, or variables that win over the environment. */
  readonly config?: AppConfig | EnvRecord;
  /** Whether `calculator` and `get_timestamp` are there; by default they are. */
  readonly builtinTools?: boolean;
  /** Providers with `@Tool` methods: classes, which Nest makes, or objects. */
  readonly tools?: readonly (Type | object)[];
}

/** All of Jackdaw but its HTTP side. */
@Module({})
export class JackdawModule {
  static forRoot({ config, builtinTools = true, tools = [], ...agents }: JackdawOptions = {}): DynamicModule {
    return {
      module: JackdawModule,
      imports: [
        AppConfigModule.forRoot(config),
        PersistenceModule.forRoot({
          entities: [...RUN_ENTITIES, ...SESSION_ENTITIES],
          migrations: [...RUN_MIGRATIONS, ...SESSION_MIGRATIONS],
        }),
        AgentModule.forRoot(agents),
        ...(builtinTools ? [BuiltinToolModule] : []),
      ],
      providers: tools.map(toProvider),
    };
  }
}

function toProvider(tool: Type | object): Provider {
  return typeof tool === 'function' ? (tool as Type) : { provide: Symbol('tools'), useValue: tool };
}
