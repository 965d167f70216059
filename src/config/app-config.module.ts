import { Logger, Module, type DynamicModule } from '@nestjs/common';
import { AppConfig } from './app-config.types.js';
import { readConfig, type EnvRecord } from './config.loader.js';

/** Provides `AppConfig` to the whole application. */
@Module({})
export class AppConfigModule {
  /**
   * @param given a configuration that is already built, or variables that win over the process environment
   * @param hasAuthenticator whether requests are authenticated in the application's own way
   * @throws AppError `CONFIG_INVALID` that lists every mistake, at once: before Nest makes or logs anything
   */
  static forRoot(given: AppConfig | EnvRecord = {}, hasAuthenticator = false): DynamicModule {
    const { config, warnings } =
      given instanceof AppConfig ? { config: given, warnings: [] } : readConfig(given, hasAuthenticator);
    return {
      module: AppConfigModule,
      global: true,
      providers: [{ provide: AppConfig, useFactory: () => withWarnings(config, warnings) }],
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
