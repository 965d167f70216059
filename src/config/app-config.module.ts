import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { ConfigModule, registerAs } from '@nestjs/config';
import { ModulesContainer } from '@nestjs/core';
import { AppError, Log } from '../errors/index.js';
import { AsyncOption, provided } from '../kernel/nest/index.js';
import { ConfiguredSecrets, shortSecretWarnings } from './configured-secrets.js';
import { type ConfigUse, readConfig, type LoadedConfig, whenLockedOf } from './config.loader.js';
import { NAMESPACE_NAMES, NAMESPACES, type Configuration } from './env.schema.js';
import type { EnvRecord } from './variable-name.mapper.js';
import { workerNumber } from './worker.loader.js';

type Given = Configuration | LoadedConfig | EnvRecord;

const LOADED = Symbol('LOADED');
const CHECKED = Symbol('CHECKED');

/**
 * @param given a configuration that is already loaded, or variables that win over the process environment
 * @throws AppError `CONFIG_INVALID` that lists all errors
 */
export function loadGiven(given: Given, use: ConfigUse): LoadedConfig {
  if (isLoaded(given)) return given;
  if (!isConfiguration(given)) return readConfig(given, use);
  const { keepAlive: keepsProcess = given.database.keepsProcess } = use;
  const config = { ...given, database: { ...given.database, whenLocked: whenLockedOf(use), keepsProcess } };
  return { config, warnings: [], secretWarnings: shortSecretWarnings(given) };
}

/** Adds variables, unless a configuration is already loaded. */
export function withVariables(given: Given, variables: EnvRecord): Given {
  return isLoaded(given) || isConfiguration(given) ? given : { ...given, ...variables };
}

function isConfiguration(given: Configuration | EnvRecord): given is Configuration {
  return typeof given['server'] === 'object';
}

function isLoaded(given: Given): given is LoadedConfig {
  return 'config' in given && typeof given.config === 'object';
}

/** Provides the namespaces to the whole application; a class injects one by its `KEY`. */
@Module({})
export class AppConfigModule {
  /**
   * @param given a configuration that is already loaded, or variables that win over the process environment
   * @throws AppError `CONFIG_INVALID` that lists all errors, before Nest creates or logs anything
   */
  static forRoot(given: Given | AsyncOption<Given> = {}, use: ConfigUse = {}): DynamicModule {
    const load = (one: Given) => loadGiven(one, use);
    return AppConfigModule.of(given instanceof AsyncOption ? given.map(load) : load(given));
  }

  /** As `forRoot`, with a configuration that is already loaded. */
  static of(loaded: LoadedConfig | AsyncOption<LoadedConfig>): DynamicModule {
    const checked: Provider[] = [
      provided(LOADED, loaded),
      { provide: CHECKED, useFactory: check, inject: [LOADED, ModulesContainer] },
      {
        provide: ConfiguredSecrets,
        useFactory: ({ config }: LoadedConfig) => ConfiguredSecrets.of(config),
        inject: [LOADED],
      },
    ];
    const module = { module: AppConfigModule, global: true };
    if (loaded instanceof AsyncOption) {
      const values = namespaceProviders();
      return { ...module, providers: [...checked, ...values], exports: [ConfiguredSecrets, ...values] };
    }
    const features = namespaceModules(loaded.config);
    return { ...module, imports: features, providers: checked, exports: [ConfiguredSecrets, ...features] };
  }
}

/** `forFeature` leaves the environment alone, and needs no `ConfigModule.forRoot`. */
function namespaceModules(config: Configuration): DynamicModule[] {
  return NAMESPACE_NAMES.map((key) => ConfigModule.forFeature(registerAs(NAMESPACES[key].name, () => config[key])));
}

/** The same values and tokens as those of `namespaceModules`: the factory of `registerAs` has no injected parameters. */
function namespaceProviders(): Exclude<Provider, Function>[] {
  return NAMESPACE_NAMES.map((key) => ({
    provide: NAMESPACES[key].KEY,
    useFactory: ({ config }: LoadedConfig) => config[key],
    inject: [LOADED],
  }));
}

/**
 * Logs the warnings at the start, as the application's logger exists only then. Rejects a second configuration: each
 * provider of the application would get one of the two at random.
 */
function check({ warnings, secretWarnings }: LoadedConfig, modules: ModulesContainer): true {
  const count = [...modules.values()].filter(({ metatype }) => metatype === AppConfigModule).length;
  if (count > 1) {
    throw new AppError(
      'CONFIG_INVALID',
      'JackdawModule.forRoot is imported twice in this application, with different options. Import it once, in the root module; other modules add tools, agents, MCP servers and workflows with JackdawModule.forFeature({ … }).',
    );
  }
  // Of workers only the first one logs them.
  if ((workerNumber() ?? 1) > 1) return true;
  const logger = new Log(AppConfigModule.name);
  for (const warning of [...warnings, ...secretWarnings]) logger.warn(warning);
  return true;
}
