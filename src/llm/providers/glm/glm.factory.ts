import type { ModelCapabilities } from '../../chat.types.js';
import type { WireDialect } from '../../openai-wire/wire-dialect.types.js';
import { WireModelFactory } from '../../openai-wire/wire-model.factory.js';
import { capabilitiesOf } from './capabilities.mapper.js';

/**
 * Zhipu's GLM models (docs.bigmodel.cn; outside China the same API is at https://api.z.ai/api/paas/v4). Between tool
 * calls they continue from the reasoning that the request repeats.
 */
export class GlmFactory extends WireModelFactory {
  readonly name = 'glm';
  readonly defaultBaseUrl = 'https://open.bigmodel.cn/api/paas/v4';
  readonly defaultModel = 'glm-4.7';
  protected readonly key = { variable: 'GLM_API_KEY', isRequired: true };
  protected readonly dialect: WireDialect = {
    maxTokensField: 'max_tokens',
    reasoningEcho: 'present',
    // docs.bigmodel.cn, 对话补全, `tools`.
    toolRules: { maxTools: 128 },
  };

  protected capabilitiesOf(model: string): ModelCapabilities {
    return capabilitiesOf(model);
  }
}
