import type { Effort, ModelCapabilities } from '../../chat/chat.types.js';
import type { WireDialect } from '../../openai-wire/wire-dialect.types.js';
import { WireModelFactory } from '../../openai-wire/wire-model.factory.js';
import { capabilitiesOf } from './capabilities.mapper.js';

/** From GLM 5.2 on, thinking has levels (github.com/nesquena/hermes-webui, release exp-v0.52.105). */
const LEVELS = /^glm-5\.[2-9]/i;

/** Thinking is on or off (docs.z.ai, "Thinking mode"). */
function effortFields(effort: Effort, model: string): Readonly<Record<string, unknown>> {
  if (effort === 'none') return { thinking: { type: 'disabled' } };
  return { thinking: { type: 'enabled' }, ...(LEVELS.test(model) && { reasoning_effort: effort }) };
}

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
    effortFields,
  };

  protected capabilitiesOf(model: string): ModelCapabilities {
    return capabilitiesOf(model);
  }
}
