import { AppError } from '../errors/index.js';
import type { ChatModel } from './chat-model.js';
import type { ModelCapabilities } from './chat.types.js';
import type { EmbeddingModel } from './embedding-model.js';
import { HttpClient, type HttpOptions } from './http.client.js';
import type { ModelFactory } from './model-factory.js';
import type { ModelSettings } from './model-settings.types.js';
import type { ModelOmission } from './wire/adaptation.registry.js';
import type { FieldChanges } from './wire/adapted-request.builder.js';
import { KnownModel } from './wrappers/known-model.wrapper.js';

/** The providers by name, and the connection pool of their models. */
export class ModelRegistry {
  private readonly factories = new Map<string, ModelFactory>();
  private readonly http: HttpClient;

  constructor(options?: HttpOptions) {
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

  /** Base URL of a model's API; undefined for a provider without one. */
  addressOf(settings: Pick<ModelSettings, 'provider' | 'baseUrl'>): string | undefined {
    return settings.baseUrl ?? this.factory(settings).defaultBaseUrl;
  }

  names(): string[] {
    return [...this.factories.keys()].toSorted();
  }

  /** Creates a model. @throws AppError `CONFIG_INVALID` for an unknown provider or invalid settings */
  create(settings: ModelSettings): ChatModel {
    const model = this.factory(settings).create(settings, this.http);
    const known = settings.capabilities ?? {};
    const isKnown = Object.entries(known).every(
      ([name, can]) => model.capabilities[name as keyof ModelCapabilities] === can,
    );
    return isKnown ? model : new KnownModel(model, known);
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
