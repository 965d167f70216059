import type { ModelCapabilities } from '../../chat.types.js';
import type { WireDialect } from '../../openai-wire/wire-dialect.types.js';
import { WireModelFactory } from '../../openai-wire/wire-model.factory.js';
import { capabilitiesOf } from './capabilities.mapper.js';

/** From GPT-5.5 on, reasoning is on by default. */
const REASONS_BY_DEFAULT = /^gpt-(?:5\.[5-9]|[6-9]|\d\d)/;

/** OpenAI's own API (developers.openai.com). */
export class OpenAiFactory extends WireModelFactory {
  readonly name = 'openai';
  readonly defaultBaseUrl = 'https://api.openai.com/v1';
  readonly defaultModel = 'gpt-5.6-luna';
  protected readonly key = { variable: 'OPENAI_API_KEY', isRequired: true };
  protected readonly dialect: WireDialect = {
    maxTokensField: 'max_completion_tokens',
    reasoningEcho: 'never',
    extras: withoutReasoningBesideTools,
  };

  protected capabilitiesOf(model: string): ModelCapabilities {
    return capabilitiesOf(model);
  }
}

/**
 * Chat completions refuse tools beside reasoning ("Function tools with reasoning_effort are not supported for …, use
 * /v1/responses or set reasoning_effort to 'none'"), also where reasoning is only the default.
 */
function withoutReasoningBesideTools(model: string, hasTools: boolean): Record<string, unknown> {
  return hasTools && REASONS_BY_DEFAULT.test(model) ? { reasoning_effort: 'none' } : {};
}
