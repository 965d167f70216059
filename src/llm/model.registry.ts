import { AppError, Log } from '../errors/index.js';
import { type ChatModel, ModelWrapper } from './chat/chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart, ModelCapabilities } from './chat/chat.types.js';
import type { EmbeddingModel } from './embedding-model.js';
import type { ModelFactory } from './model-factory.js';
import type { ModelSettings } from './model-settings.types.js';
import { FREE_PROVIDER, isKnown, type ModelPatterns, ownFactsOf } from './models/model-facts.js';
import type { ModelOmission } from './wire/adaptation.registry.js';
import type { FieldChanges } from './wire/adapted-request.builder.js';
import { HttpClient, type HttpOptions } from './wire/wire.client.js';

/** A model with configured capabilities. */
export class KnownModel extends ModelWrapper {
  private readonly known: ModelCapabilities;

  constructor(model: ChatModel, known: Partial<ModelCapabilities>) {
    super(model);
    this.known = { ...model.capabilities, ...known };
  }

  override get capabilities(): ModelCapabilities {
    return this.known;
  }

  generate(request: ChatRequest, options?: CallOptions): Promise<ChatResult> {
    return this.inner.generate(request, options);
  }

  stream(request: ChatRequest, options?: CallOptions): AsyncIterable<ChatStreamPart> {
    return this.inner.stream(request, options);
  }
}

/** Maximum models of assumptions in memory, since requests name the models. */
const MAX_MODELS = 1000;

/** The facts of the own file that are capabilities of a model. */
function ownCapabilities(model: ChatModel, own: ModelPatterns): Partial<ModelCapabilities> {
  const {
    contextTokens: _window,
    price: _price,
    cacheWriteRate: _rate,
    replyTokens,
    effort,
    ...flags
  } = ownFactsOf(model, own);
  return {
    ...flags,
    ...(replyTokens !== undefined && { maxReplyTokens: replyTokens }),
    ...(effort && { parameterLimits: { ...model.capabilities.parameterLimits, efforts: effort } }),
  };
}

function able(name: string, can: boolean): string {
  return can ? name : `no ${name}`;
}

/** The assumptions of a model without facts, for operators. */
function assumptionsOf({ vision, functionCalling, jsonMode, parameterLimits }: ModelCapabilities): string[] {
  return [
    'an unknown context window',
    able('vision', vision),
    able('function calling', functionCalling),
    able('JSON mode', jsonMode),
    ...(parameterLimits?.efforts ? [] : ['an effort as given']),
  ];
}

/** The providers by name, and the connection pool of their models. */
export class ModelRegistry {
  private readonly logger = new Log(ModelRegistry.name);
  private readonly factories = new Map<string, ModelFactory>();
  private readonly http: HttpClient;

  private readonly assumed = new Map<string, readonly string[]>();

  /** @param models facts of `LLM_MODELS_FILE`, which override the built-in tables */
  constructor(
    options?: HttpOptions,
    private readonly models: ModelPatterns = {},
  ) {
    this.http = new HttpClient(options);
  }

  /** Registers a provider. @throws AppError `CONFIG_INVALID` for a duplicate name */
  register(factory: ModelFactory): void {
    if (this.factories.has(factory.name)) {
      throw new AppError('CONFIG_INVALID', `The model provider "${factory.name}" is registered twice; rename one.`);
    }
    this.factories.set(factory.name, factory);
  }

  /** Changes of requests that providers required, by `provider:model`. */
  adaptations(): ReadonlyMap<string, readonly string[]> {
    return this.http.adaptations.list();
  }

  /** Tools that requests omit, since the format of their provider cannot express them. */
  omittedTools(): readonly ModelOmission[] {
    return this.http.adaptations.omitted();
  }

  /** The changes of requests of all models, by field. */
  changes(): FieldChanges {
    return this.http.adaptations.all();
  }

  /** The assumptions about the models that no table has, by `provider:model`. */
  assumptions(): ReadonlyMap<string, readonly string[]> {
    return this.assumed;
  }

  /** Base URL of a model's API; undefined for a provider without one. */
  addressOf(settings: Pick<ModelSettings, 'provider' | 'baseUrl'>): string | undefined {
    return settings.baseUrl ?? this.factory(settings).defaultBaseUrl;
  }

  names(): string[] {
    return [...this.factories.keys()].toSorted();
  }

  /** Creates a model. @throws AppError `CONFIG_INVALID` for an unknown provider or invalid settings */
  create(settings: ModelSettings): ChatModel {
    const factory = this.factory(settings);
    const first = factory.create(settings, this.http);
    this.assume(first, settings);
    const known = { ...ownCapabilities(first, this.models), ...settings.capabilities };
    if (Object.keys(known).length === 0) return first;
    const model = factory.create({ ...settings, capabilities: known }, this.http);
    const isApplied = Object.entries(known).every(
      ([name, can]) => model.capabilities[name as keyof ModelCapabilities] === can,
    );
    return isApplied ? model : new KnownModel(model, known);
  }

  /** Remembers the assumptions about a model that no table has; they are logged once. */
  private assume({ provider, name, capabilities }: ChatModel, { capabilities: given }: ModelSettings): void {
    const key = `${provider}:${name}`;
    if (provider === FREE_PROVIDER || this.assumed.has(key) || isKnown({ provider, name }, this.models)) return;
    const [oldest] = this.assumed.keys();
    if (this.assumed.size >= MAX_MODELS && oldest !== undefined) this.assumed.delete(oldest);
    const texts = assumptionsOf({ ...capabilities, ...given });
    this.assumed.set(key, texts);
    this.logger.log(
      `No table has the model ${name} of ${provider}; assumed: ${texts.join(', ')} (LLM_MODELS_FILE states its facts)`,
    );
  }

  /** Creates an embedding model. @throws AppError `CONFIG_INVALID`, as `create` */
  createEmbedding(settings: ModelSettings): EmbeddingModel {
    return this.factory(settings).createEmbedding(settings, this.http);
  }

  private factory({ provider }: Pick<ModelSettings, 'provider'>): ModelFactory {
    const factory = this.factories.get(provider);
    if (factory) return factory;
    const known = this.names().join(', ');
    throw new AppError(
      'CONFIG_INVALID',
      `There is no model provider "${provider}"; set LLM_PROVIDER to one of: ${known}.`,
    );
  }

  /** Closes all connections. Open calls fail, and later calls are rejected. */
  async close(): Promise<void> {
    await this.http.close();
  }
}
