import type { ModelCapabilities } from '../../chat.types.js';
import type { WireDialect } from '../../openai-wire/wire-dialect.types.js';
import { WireModelFactory } from '../../openai-wire/wire-model.factory.js';
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
  };

  protected capabilitiesOf(model: string): ModelCapabilities {
    return capabilitiesOf(model);
  }
}
