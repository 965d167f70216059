import { type Cache, openCache } from '../cache/index.js';
import { type EnvRecord, readConfig } from '../config/index.js';
import type { LlmConfig } from '../config/namespaces/index.js';
import { AppError, Log } from '../errors/index.js';
import type { ChatModel } from './chat/chat-model.js';
import type { ModelCapabilities, ModelParameters } from './chat/chat.types.js';
import {
  configuredSettings,
  createModelRegistry,
  type LlmOptions,
  ModelFactories,
  toLlmEnv,
} from './model-registry.factory.js';
import { httpOptions } from './wire/wire.client.js';
import type { ModelFactory } from './model-factory.js';
import type { ModelSettings } from './model-settings.types.js';
import type { ModelRegistry } from './model.registry.js';
import { KeyPoolRegistry } from './wrappers/key-pool.registry.js';
import { ModelStackFactory } from './wrappers/model-stack.factory.js';
import { type ModelTrace, TracedModel } from './wrappers/traced-model.wrapper.js';

/** Options of `openModels`. */
export interface OpenModelsOptions {
  /** Provider and credentials of the default model; by default those of the environment. */
  readonly llm?: LlmOptions;
  /** Variables that override the environment, as in docs/configuration.md. */
  readonly env?: EnvRecord;
  /** Whether to read `.env`; default false. */
  readonly files?: boolean;
  /** Custom providers, in addition to those of Jackdaw. */
  readonly modelFactories?: readonly ModelFactory[];
  /** Receives every finished call, with its duration and usage. */
  readonly trace?: ModelTrace;
}

/** Choice of a model; omitted parts have the values of the environment. */
export interface OpenedModelChoice {
  /** As in `LLM_PROVIDER`. */
  readonly provider?: string;
  readonly model?: string;
  /** Models that replace a failed one, in order; by default `LLM_FALLBACK`. */
  readonly fallback?: readonly { readonly provider: string; readonly model?: string | undefined }[];
  /** Maximum attempts after transient failures; by default `LLM_MAX_ATTEMPTS`. */
  readonly maxAttempts?: number;
  readonly capabilities?: Partial<ModelCapabilities>;
  /** Defaults for every call. */
  readonly parameters?: ModelParameters;
}

const OPTIONS: ReadonlySet<string> = new Set<keyof OpenModelsOptions>([
  'llm',
  'env',
  'files',
  'modelFactories',
  'trace',
]);
const CHOICES: ReadonlySet<string> = new Set<keyof OpenedModelChoice>([
  'provider',
  'model',
  'fallback',
  'maxAttempts',
  'capabilities',
  'parameters',
]);

/** Models of the configured providers, without an application. Call `close` at the end. */
export class OpenedModels {
  private readonly registry: ModelRegistry;
  private readonly keys: KeyPoolRegistry;
  private readonly stack: ModelStackFactory;
  private readonly trace: ModelTrace | undefined;

  constructor(
    private readonly config: LlmConfig,
    private readonly cache: Cache | null,
    { modelFactories = [], trace }: Pick<OpenModelsOptions, 'modelFactories' | 'trace'>,
  ) {
    this.registry = createModelRegistry(httpOptions(config), new ModelFactories(modelFactories), config.models);
    this.keys = new KeyPoolRegistry(config);
    this.keys.onModuleInit();
    this.stack = new ModelStackFactory(this.registry, this.keys, config, cache, null);
    this.trace = trace;
  }

  /**
   * Creates a model with the configured wrappers, without sending a request: cache, fallback, retry, circuit breaker,
   * concurrency limit, price, and the trace.
   * @throws AppError `CONFIG_INVALID` for an unknown provider, a missing key or an unknown option
   */
  create(choice: OpenedModelChoice = {}): ChatModel {
    assertKnown('create()', choice, CHOICES);
    const { config } = this;
    const { fallback = config.resilience.fallback, maxAttempts } = choice;
    const model = this.stack.create(
      this.settingsOf(choice),
      fallback.map((one) => configuredSettings(config, one)),
      maxAttempts === undefined ? {} : { maxAttempts },
    );
    return this.trace ? new TracedModel(model, this.trace) : model;
  }

  /** Closes all connections. Open calls fail, and later calls are rejected. */
  async close(): Promise<void> {
    this.keys.onModuleDestroy();
    await this.registry.close();
    await this.cache?.close();
  }

  private settingsOf({ provider, model, capabilities, parameters }: OpenedModelChoice): ModelSettings {
    const { config } = this;
    const settings = configuredSettings(config, { provider: provider ?? config.provider, model });
    if (model !== undefined || settings.provider !== config.provider) {
      return { ...settings, ...(capabilities && { capabilities }), ...(parameters && { parameters }) };
    }
    return {
      ...settings,
      ...(config.model !== undefined && { model: config.model }),
      capabilities: { ...(capabilities ?? config.capabilities) },
      parameters: { ...config.parameters, ...parameters },
    };
  }
}

/**
 * Opens the models of the environment for code without an application, such as a caller of `enhance`.
 * @throws AppError `CONFIG_INVALID`
 */
export async function openModels(options: OpenModelsOptions = {}): Promise<OpenedModels> {
  assertKnown('openModels()', options, OPTIONS);
  const { llm, env = {}, files = false } = options;
  const overrides = { ...env, ...(llm && toLlmEnv(llm, text)) };
  const { config, warnings } = readConfig(overrides, { isHost: true, hasFiles: files });
  const logger = new Log('Models');
  for (const warning of warnings) logger.warn(warning);
  const { replyTokens: _reserved, ...limits } = config.llm.budget;
  if (Object.keys(limits).length > 0) {
    throw invalid('openModels()', 'BUDGET_… limits the runs of an application only: remove it, or use createAgent()');
  }
  return new OpenedModels(config.llm, await openCache(config.cache, config.database), options);
}

function assertKnown(place: string, options: object, known: ReadonlySet<string>): void {
  const unknown = Object.keys(options).filter((key) => !known.has(key));
  if (unknown.length > 0) throw invalid(place, `unknown ${unknown.join(', ')} (known: ${[...known].join(', ')})`);
}

function text(value: unknown, field: string): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw invalid(
    'openModels()',
    `${field} is ${typeof value === 'string' ? 'blank' : 'missing'}: give a text, or omit it`,
  );
}

function invalid(place: string, problem: string): AppError {
  return new AppError('CONFIG_INVALID', `${place}: ${problem}.`);
}
