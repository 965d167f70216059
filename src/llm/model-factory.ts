import { AppError } from '../errors/index.js';
import type { ChatModel } from './chat/chat-model.js';
import type { EmbeddingModel } from './embedding-model.js';
import type { HttpClient } from './wire/wire.client.js';
import type { ModelSettings } from './model-settings.types.js';

/** Creates the chat models of one provider. */
export abstract class ModelFactory {
  /** The provider's name, as in `LLM_PROVIDER`. */
  abstract readonly name: string;
  /** Default URL of the provider's API; without one, the settings must contain a URL. */
  abstract readonly defaultBaseUrl?: string;
  abstract readonly defaultModel?: string;

  /**
   * Creates a model without sending a request.
   * @param http connection pool of the registry, shared by all its models
   * @throws AppError `CONFIG_INVALID` if the settings lack a required value
   */
  abstract create(settings: ModelSettings, http: HttpClient): ChatModel;

  /** Creates an embedding model. @throws AppError `CONFIG_INVALID` if the provider has no embeddings */
  createEmbedding(_settings: ModelSettings, _http: HttpClient): EmbeddingModel {
    throw new AppError(
      'CONFIG_INVALID',
      `The model provider "${this.name}" has no embeddings: leave EMBEDDING_MODEL out, or choose another LLM_PROVIDER.`,
    );
  }
}
