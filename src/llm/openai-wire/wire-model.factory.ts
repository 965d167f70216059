import { AppError } from '../../common/index.js';
import type { ChatModel } from '../chat-model.js';
import type { ModelCapabilities } from '../chat.types.js';
import type { EmbeddingModel } from '../embedding-model.js';
import type { HttpClient } from '../http.client.js';
import { ModelFactory } from '../model-factory.js';
import type { ModelSettings } from '../model-settings.types.js';
import { WireChatModel } from './wire-chat.model.js';
import type { WireAccess, WireDialect } from './wire-dialect.types.js';
import { WireEmbeddingModel } from './wire-embedding.model.js';

/** The environment variable that holds a provider's key, and whether the provider answers without one. */
export interface KeyRule {
  readonly variable: string;
  readonly isRequired: boolean;
}

/** Makes models of a provider that speaks OpenAI's wire; a provider says what differs. */
export abstract class WireModelFactory extends ModelFactory {
  protected abstract readonly key?: KeyRule;
  protected abstract readonly dialect: WireDialect;
  /** Whether the provider serves `/embeddings`. */
  protected readonly hasEmbeddings: boolean = true;

  /** What the model of that name can do. */
  protected abstract capabilitiesOf(model: string): ModelCapabilities;

  override create(settings: ModelSettings, http: HttpClient): ChatModel {
    const model = settings.model ?? this.defaultModel;
    if (!model) throw this.lacks('a model', 'LLM_MODEL');
    const access = this.accessTo(model, settings);
    const wire = { ...access, capabilities: this.capabilitiesOf(model), dialect: this.dialect };
    return new WireChatModel(wire, http, settings.parameters);
  }

  override createEmbedding(settings: ModelSettings, http: HttpClient): EmbeddingModel {
    if (!this.hasEmbeddings) return super.createEmbedding(settings, http);
    if (!settings.model) throw this.lacks('a model for embeddings', 'EMBEDDING_MODEL');
    return new WireEmbeddingModel(this.accessTo(settings.model, settings), http);
  }

  private accessTo(model: string, settings: ModelSettings): WireAccess {
    return {
      provider: this.name,
      model,
      baseUrl: this.baseUrl(settings),
      apiKey: this.apiKey(settings),
      keyVariable: this.key?.variable,
      timeoutMs: settings.timeoutMs,
    };
  }

  private baseUrl(settings: ModelSettings): string {
    const given = settings.baseUrl ?? this.defaultBaseUrl;
    if (!given) throw this.lacks('a base URL', 'LLM_BASE_URL');
    const url = URL.parse(given);
    if (!url || !/^https?:$/.test(url.protocol)) {
      throw this.invalid(`the base URL "${given}", which is not an http(s) URL`);
    }
    // User and password in a URL would end up in messages and logs.
    if (url.username || url.password) throw this.invalid('a base URL with a password in it; give the key by itself');
    return given.replace(/\/+$/, '');
  }

  private apiKey(settings: ModelSettings): string | undefined {
    if (!this.key) return undefined;
    const key = settings.apiKey?.trim();
    if (!key) {
      if (this.key.isRequired) throw this.lacks('an API key', this.key.variable);
      return undefined;
    }
    if (!/^[\x21-\x7e]+$/.test(key)) {
      throw this.invalid(`an API key with characters that no HTTP header can hold; check ${this.key.variable}`);
    }
    return key;
  }

  private lacks(what: string, variable: string): AppError {
    return new AppError('CONFIG_INVALID', `The model provider "${this.name}" needs ${what}; set ${variable}.`);
  }

  private invalid(what: string): AppError {
    return new AppError('CONFIG_INVALID', `The model provider "${this.name}" was given ${what}.`);
  }
}
