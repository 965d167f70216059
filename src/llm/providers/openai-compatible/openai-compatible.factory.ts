import type { ModelCapabilities } from '../../chat/chat.types.js';
import type { WireDialect } from '../../openai-wire/wire-dialect.types.js';
import { WireModelFactory } from '../../openai-wire/wire-model.factory.js';
import { capabilitiesOf, formatModeOf, requirementsOf } from './capabilities.mapper.js';

/**
 * Any server with OpenAI's chat completions API: vLLM, llama.cpp, LM Studio, a gateway. It has no default URL or model.
 */
export class OpenAiCompatibleFactory extends WireModelFactory {
  readonly name = 'openai-compatible';
  readonly defaultBaseUrl = undefined;
  readonly defaultModel = undefined;
  protected readonly key = { variable: 'LLM_API_KEY', isRequired: false };
  protected override readonly responsesApi = 'optional';
  protected readonly dialect: WireDialect = {
    maxTokensField: 'max_tokens',
    reasoningEcho: 'never',
    formatMode: formatModeOf,
    arrangement: 'template',
  };

  protected override dialectOf(model: string): WireDialect {
    return { ...this.dialect, ...requirementsOf(model) };
  }

  protected capabilitiesOf(model: string): ModelCapabilities {
    return capabilitiesOf(model);
  }
}
