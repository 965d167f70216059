import type { LlmConfig, ModelChoice, ProviderAccess } from '../config/index.js';
import type { ModelSettings } from './model-settings.types.js';

/** The settings of a model with the configured access data and time limits. */
export function configuredSettings(llm: LlmConfig, { provider, model }: ModelChoice): ModelSettings {
  // Providers of the application are not in this table and manage their own keys.
  const access: Partial<Record<string, ProviderAccess>> = llm.access;
  const { idleTimeoutMs, totalTimeoutMs } = llm.resilience;
  return {
    provider,
    timeoutMs: llm.timeoutMs,
    ...(idleTimeoutMs !== undefined && { idleMs: idleTimeoutMs }),
    ...(totalTimeoutMs > 0 && { totalMs: totalTimeoutMs }),
    ...(model !== undefined && { model }),
    ...(llm.openAiApi !== 'auto' && { openAiApi: llm.openAiApi }),
    ...access[provider],
  };
}
