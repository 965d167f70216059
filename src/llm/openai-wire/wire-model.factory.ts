import type { ChatModel } from '../chat-model.js';
import type { ModelCapabilities } from '../chat.types.js';
import type { EmbeddingModel } from '../embedding-model.js';
import type { HttpClient } from '../http.client.js';
import { ModelFactory } from '../model-factory.js';
import type { ModelSettings } from '../model-settings.types.js';
import { createAccess, lacking, type KeyRule } from '../wire/wire-access.factory.js';
import type { WireAccess } from '../wire/wire-access.types.js';
import { WireChatModel } from '../wire/wire-chat.model.js';
import { bearerRoute } from './bearer-route.mapper.js';
import { createClient } from './openai-client.factory.js';
import { createCodec } from './openai-codec.factory.js';
import type { RouteTo, WireDialect } from './wire-dialect.types.js';
import { WireEmbeddingModel } from './wire-embedding.model.js';

/** Creates models of an OpenAI-compatible provider; subclasses define the differences. */
export abstract class WireModelFactory extends ModelFactory {
  protected abstract readonly key?: KeyRule;
  protected abstract readonly dialect: WireDialect;
  /** Variable with the provider's URL; `LLM_BASE_URL` by default. */
  protected readonly urlVariable?: string;
  /** Whether the provider has `/embeddings`. */
  protected readonly hasEmbeddings: boolean = true;

  /** Capabilities by model name. */
  protected abstract capabilitiesOf(model: string): ModelCapabilities;

  /** The routes of the provider's endpoints. */
  protected routeOf(_settings: ModelSettings): RouteTo {
    return bearerRoute;
  }

  override create(settings: ModelSettings, http: HttpClient): ChatModel {
    const model = settings.model ?? this.defaultModel;
    if (!model) throw lacking(this, 'a model', 'LLM_MODEL');
    const access = this.accessTo(model, settings);
    const client = createClient(access, this.routeOf(settings)(access, '/chat/completions'), http);
    const codec = createCodec({ model, dialect: this.dialect });
    const capabilities = { ...this.capabilitiesOf(model), ...settings.capabilities };
    return new WireChatModel({ ...access, capabilities }, client, codec, settings.parameters);
  }

  override createEmbedding(settings: ModelSettings, http: HttpClient): EmbeddingModel {
    if (!this.hasEmbeddings) return super.createEmbedding(settings, http);
    if (!settings.model) throw lacking(this, 'a model for embeddings', 'EMBEDDING_MODEL');
    const access = this.accessTo(settings.model, settings);
    const client = createClient(access, this.routeOf(settings)(access, '/embeddings'), http);
    return new WireEmbeddingModel(access, client);
  }

  /** URL, key and time limits of a model. @throws AppError `CONFIG_INVALID` if the settings lack a required value */
  protected accessTo(model: string, settings: ModelSettings): WireAccess {
    const { name, defaultBaseUrl, key, urlVariable } = this;
    const rule = { name, ...(defaultBaseUrl && { defaultBaseUrl }), ...(key && { key }) };
    return createAccess({ ...rule, ...(urlVariable && { urlVariable }) }, model, settings);
  }
}
