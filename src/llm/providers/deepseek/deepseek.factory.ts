import type { ModelCapabilities } from '../../chat/chat.types.js';
import type { WireDialect } from '../../openai-wire/wire-dialect.types.js';
import { WireModelFactory } from '../../openai-wire/wire-model.factory.js';
import { capabilitiesOf } from './capabilities.mapper.js';

/** DeepSeek's API (api-docs.deepseek.com). */
export class DeepSeekFactory extends WireModelFactory {
  readonly name = 'deepseek';
  readonly defaultBaseUrl = 'https://api.deepseek.com';
  readonly defaultModel = 'deepseek-v4-flash';
  protected readonly key = { variable: 'DEEPSEEK_API_KEY', isRequired: true };
  protected readonly dialect: WireDialect = {
    maxTokensField: 'max_tokens',
    reasoningEcho: 'with_calls',
    // api-docs.deepseek.com/api/create-chat-completion, `tools`.
    toolRules: { maxTools: 128 },
    // Thinking is on by default; the API maps all other levels (api-docs.deepseek.com/guides/thinking_mode).
    effortFields: (effort) =>
      effort === 'none'
        ? { thinking: { type: 'disabled' } }
        : { thinking: { type: 'enabled' }, reasoning_effort: effort },
  };

  protected override readonly hasEmbeddings = false;

  protected capabilitiesOf(model: string): ModelCapabilities {
    return capabilitiesOf(model);
  }
}
