import { Logger, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { ConfigModule, registerAs } from '@nestjs/config';
import { ModulesContainer } from '@nestjs/core';
import { AppError } from '../errors/index.js';
import { AsyncOption, provided } from '../kernel/index.js';
import { ConfiguredSecrets, shortSecretWarnings } from './configured-secrets.js';
import { readConfig, type EnvRecord, type LoadedConfig } from './config.loader.js';
import { NAMESPACE_NAMES, NAMESPACES, type Configuration } from './env.schema.js';

type Given = Configuration | EnvRecord;

const LOADED = Symbol('LOADED');
const CHECKED = Symbol('CHECKED');

/**
 * @param given a configuration that is already loaded, or variables that win over the process environment
 * @throws AppError `CONFIG_INVALID` that lists all errors
 */
export function loadGiven(given: Given, hasAuthenticator: boolean): LoadedConfig {
  return isLoaded(given) ? { config: given, warnings: [] } : readConfig(given, hasAuthenticator);
}

function isLoaded(given: Given): given is Configuration {
  return typeof given['server'] === 'object';
}

/** Provides the namespaces to the whole application; a class injects one by its `KEY`. */
@Module({})
export class AppConfigModule {
  /**
   * @param given a configuration that is already loaded, or variables that win over the process environment
   * @param hasAuthenticator whether the application authenticates requests itself
   * @throws AppError `CONFIG_INVALID` that lists all errors, before Nest creates or logs anything
   */
  static forRoot(given: Given | AsyncOption<Given> = {}, hasAuthenticator = false): DynamicModule {
    const load = (one: Given) => loadGiven(one, hasAuthenticator);
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
function check({ config, warnings }: LoadedConfig, modules: ModulesContainer): true {
  const count = [...modules.values()].filter(({ metatype }) => metatype === AppConfigModule).length;
  if (count > 1) {
    throw new AppError(
      'CONFIG_INVALID',
      'JackdawModule.forRoot is imported twice in this application, with different options. Import it once, in the root module; other modules add tools, agents, MCP servers and workflows with JackdawModule.forFeature({ … }).',
    );
  }
  const logger = new Logger(AppConfigModule.name);
  for (const warning of [...warnings, ...shortSecretWarnings(config)]) logger.warn(warning);
  return true;
}
