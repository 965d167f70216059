import { Logger, Module, type DynamicModule } from '@nestjs/common';
import { Later, provided } from '../common/index.js';
import { AppConfig } from './app-config.types.js';
import { readConfig, type EnvRecord, type LoadedConfig } from './config.loader.js';

type Given = AppConfig | EnvRecord;

const LOADED = Symbol('LOADED');

/** Provides `AppConfig` to the whole application. */
@Module({})
export class AppConfigModule {
  /**
   * @param given a configuration that is already built, or variables that win over the process environment
   * @param hasAuthenticator whether requests are authenticated in the application's own way
   * @throws AppError `CONFIG_INVALID` that lists every mistake, at once: before Nest makes or logs anything
   */
  static forRoot(given: Given | Later<Given> = {}, hasAuthenticator = false): DynamicModule {
    const read = (one: Given) =>
      one instanceof AppConfig ? { config: one, warnings: [] } : readConfig(one, hasAuthenticator);
    const loaded = given instanceof Later ? given.map(read) : read(given);
    return {
      module: AppConfigModule,
      global: true,
      providers: [
        provided(LOADED, loaded),
        {
          provide: AppConfig,
          useFactory: ({ config, warnings }: LoadedConfig) => withWarnings(config, warnings),
          inject: [LOADED],
        },
      ],
      exports: [AppConfig],
    };
  }
}

/** Warnings are for the application's own logger, which is there only once its providers are made. */
function withWarnings(config: AppConfig, warnings: readonly string[]): AppConfig {
  const logger = new Logger(AppConfigModule.name);
  for (const warning of warnings) logger.warn(warning);
  return config;
}
