import type { FakeRequest } from '../fake-llm.types.js';
import { ANTHROPIC_EFFORT_RULES } from './anthropic-effort.js';
import { ANTHROPIC_RULES } from './anthropic.js';
import { DEEPSEEK_RULES } from './deepseek.js';
import { GEMINI_RULES } from './gemini.js';
import { GLM_RULES } from './glm.js';
import { MISTRAL_RULES } from './mistral.js';
import { MOONSHOT_RULES } from './moonshot.js';
import { OLLAMA_RULES } from './ollama.js';
import { OPENAI_TOOL_RULES } from './openai-tools.js';
import { OPENAI_RULES } from './openai.js';
import type { ProviderName, ProviderRule, Rejection } from './provider-rule.js';
import { QWEN_RULES } from './qwen.js';
import { RESPONSES_RULES } from './responses.js';
import { VLLM_RULES } from './vllm.js';

export { PROVIDER_NAMES, type ProviderName, type ProviderRule } from './provider-rule.js';

/** Every rule of every provider. */
export const PROVIDER_RULES: readonly ProviderRule[] = [
  ...OPENAI_RULES,
  ...OPENAI_TOOL_RULES,
  ...RESPONSES_RULES,
  ...DEEPSEEK_RULES,
  ...MOONSHOT_RULES,
  ...GLM_RULES,
  ...QWEN_RULES,
  ...MISTRAL_RULES,
  ...GEMINI_RULES,
  ...OLLAMA_RULES,
  ...VLLM_RULES,
  ...ANTHROPIC_RULES,
  ...ANTHROPIC_EFFORT_RULES,
];

/** A rule that a request breaks, and the provider's answer. */
export interface BrokenRule extends Rejection {
  readonly provider: ProviderName;
  readonly rule: string;
  readonly request: FakeRequest;
}

/** All rules of a provider that a request breaks. */
export function brokenRules(provider: ProviderName, request: FakeRequest): BrokenRule[] {
  return PROVIDER_RULES.filter(({ providers }) => providers.includes(provider)).flatMap(({ id, check }) => {
    const rejection = check(request);
    return rejection ? [{ ...rejection, provider, rule: id, request }] : [];
  });
}
