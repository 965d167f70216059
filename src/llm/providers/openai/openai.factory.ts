import type { ModelCapabilities } from '../../chat/chat.types.js';
import type { WireDialect } from '../../openai-wire/wire-dialect.types.js';
import { WireModelFactory } from '../../openai-wire/wire-model.factory.js';
import { isOwnHost } from '../../wire/wire-access.factory.js';
import { capabilitiesOf, formatModeOf, withoutReasoningBesideTools } from './capabilities.mapper.js';

/** OpenAI's API (developers.openai.com). */
export class OpenAiFactory extends WireModelFactory {
  readonly name = 'openai';
  readonly defaultBaseUrl = 'https://api.openai.com/v1';
  readonly defaultModel = 'gpt-5.6-luna';
  protected readonly key = { variable: 'OPENAI_API_KEY', isRequired: true };
  protected override readonly responsesApi = 'default';
  protected readonly dialect: WireDialect = {
    maxTokensField: 'max_completion_tokens',
    reasoningEcho: 'never',
    formatMode: formatModeOf,
    extras: withoutReasoningBesideTools,
    // developers.openai.com, "Create chat completion", `tools`.
    toolRules: { maxTools: 128 },
    hasCacheKey: true,
  };

  /** Other servers at `OPENAI_BASE_URL`, such as vLLM, have no limit of tools, and may refuse the key of a cache. */
  protected override dialectOf(_model: string, baseUrl: string): WireDialect {
    const { toolRules: _ofOpenAi, hasCacheKey: _key, ...others } = this.dialect;
    return isOwnHost(baseUrl, this.defaultBaseUrl) ? this.dialect : others;
  }

  protected capabilitiesOf(model: string): ModelCapabilities {
    return capabilitiesOf(model);
  }
}
