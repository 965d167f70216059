import type { ModelCapabilities } from '../../chat/chat.types.js';
import type { ModelSettings } from '../../model-settings.types.js';
import type { WireDialect } from '../../openai-wire/wire-dialect.types.js';
import { WireModelFactory } from '../../openai-wire/wire-model.factory.js';
import { isVersioned } from '../../wire/version-probing.client.js';
import { endpointOf } from '../../wire/wire-access.factory.js';
import type { WireAccess } from '../../wire/wire-access.types.js';
import { capabilitiesOf, formatModeOf } from './capabilities.mapper.js';

/** Local models through Ollama's OpenAI-compatible API (docs.ollama.com/openai), without a key. */
export class OllamaFactory extends WireModelFactory {
  readonly name = 'ollama';
  readonly defaultBaseUrl = 'http://127.0.0.1:11434/v1';
  readonly defaultModel = 'qwen3';
  protected readonly key = undefined;
  protected readonly dialect: WireDialect = {
    maxTokensField: 'max_tokens',
    reasoningEcho: 'never',
    formatMode: formatModeOf,
    arrangement: 'json',
  };

  protected capabilitiesOf(model: string): ModelCapabilities {
    return capabilitiesOf(model);
  }

  /** Accepts the address of the server, as in `OLLAMA_HOST`; the API is below `/v1`. */
  protected override accessTo(model: string, settings: ModelSettings): WireAccess {
    const access = super.accessTo(model, settings);
    return isVersioned(access.baseUrl) ? access : { ...access, baseUrl: endpointOf(access.baseUrl, '/v1').href };
  }
}
