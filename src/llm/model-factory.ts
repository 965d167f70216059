import { AppError } from '../common/index.js';
import type { ChatModel } from './chat-model.js';
import type { EmbeddingModel } from './embedding-model.js';
import type { HttpClient } from './http.client.js';
import type { ModelSettings } from './model-settings.types.js';

/** Makes the chat models of one provider. */
export abstract class ModelFactory {
  /** The provider's name, as in `LLM_PROVIDER`. */
  abstract readonly name: string;
  /** Where the provider's API is when the settings do not say; without one the settings must. */
  abstract readonly defaultBaseUrl?: string;
  abstract readonly defaultModel?: string;

  /**
   * Makes a model; nothing is sent yet. `http` is the registry's pool, shared by all its models.
   * Throws `CONFIG_INVALID` when the settings lack what the provider needs.
   */
  abstract create(settings: ModelSettings, http: HttpClient): ChatModel;

  /** The same for an embedding model, where the provider has such. Throws `CONFIG_INVALID` where it has none. */
  createEmbedding(_settings: ModelSettings, _http: HttpClient): EmbeddingModel {
    throw new AppError(
      'CONFIG_INVALID',
      `The model provider "${this.name}" has no embeddings: leave EMBEDDING_MODEL out, or choose another LLM_PROVIDER.`,
    );
  }
}
