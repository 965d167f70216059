import { Logger, Module, type DynamicModule } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { AppError, AsyncOption, provided } from '../common/index.js';
import { AppConfig } from './app-config.types.js';
import { readConfig, type EnvRecord, type LoadedConfig } from './config.loader.js';

type Given = AppConfig | EnvRecord;

const LOADED = Symbol('LOADED');

/**
 * @param given a configuration that is already built, or variables that win over the process environment
 * @throws AppError `CONFIG_INVALID` that lists all errors
 */
export function loadGiven(given: Given, hasAuthenticator: boolean): LoadedConfig {
  return given instanceof AppConfig ? { config: given, warnings: [] } : readConfig(given, hasAuthenticator);
}

/** Provides `AppConfig` to the whole application. */
@Module({})
export class AppConfigModule {
  /**
   * @param given a configuration that is already built, or variables that win over the process environment
   * @param hasAuthenticator whether the application authenticates requests itself
   * @throws AppError `CONFIG_INVALID` that lists all errors, before Nest creates or logs anything
   */
  static forRoot(given: Given | AsyncOption<Given> = {}, hasAuthenticator = false): DynamicModule {
    const load = (one: Given) => loadGiven(one, hasAuthenticator);
    return AppConfigModule.of(given instanceof AsyncOption ? given.map(load) : load(given));
  }

  /** As `forRoot`, with a configuration that is already loaded. */
  static of(loaded: LoadedConfig | AsyncOption<LoadedConfig>): DynamicModule {
    return {
      module: AppConfigModule,
      global: true,
      providers: [
        provided(LOADED, loaded),
        {
          provide: AppConfig,
          useFactory: ({ config, warnings }: LoadedConfig, modules: ModulesContainer) => {
            assertOnlyOne(modules);
            return withWarnings(config, warnings);
          },
          inject: [LOADED, ModulesContainer],
        },
      ],
      exports: [AppConfig],
    };
  }
}

/** Rejects a second configuration: each provider of the application would get one of the two at random. */
function assertOnlyOne(modules: ModulesContainer): void {
  const count = [...modules.values()].filter(({ metatype }) => metatype === AppConfigModule).length;
  if (count < 2) return;
  throw new AppError(
    'CONFIG_INVALID',
    'JackdawModule.forRoot is imported twice in this application, with different options. Import it once, in the root module; other modules add tools, agents, MCP servers and workflows with JackdawModule.forFeature({ … }).',
  );
}

/** Logs the warnings when `AppConfig` is created, as the application's logger exists only then. */
function withWarnings(config: AppConfig, warnings: readonly string[]): AppConfig {
  const logger = new Logger(AppConfigModule.name);
  for (const warning of warnings) logger.warn(warning);
  return config;
}
