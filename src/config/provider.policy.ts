import type { LlmProvider } from './app-config.types.js';
import type { EnvName, EnvValues } from './env.schema.js';

interface ProviderVariables {
  readonly key?: EnvName & `${string}_API_KEY`;
  readonly baseUrl?: EnvName & `${string}_BASE_URL`;
  readonly required: readonly EnvName[];
}

/** The variables of each provider. `LLM_API_KEY` and `LLM_BASE_URL` stand in for what is not set. */
const VARIABLES: Record<LlmProvider, ProviderVariables> = {
  openai: { key: 'OPENAI_API_KEY', baseUrl: 'OPENAI_BASE_URL', required: ['OPENAI_API_KEY'] },
  deepseek: { key: 'DEEPSEEK_API_KEY', baseUrl: 'DEEPSEEK_BASE_URL', required: ['DEEPSEEK_API_KEY'] },
  glm: { key: 'GLM_API_KEY', baseUrl: 'GLM_BASE_URL', required: ['GLM_API_KEY'] },
  ollama: { baseUrl: 'OLLAMA_BASE_URL', required: [] },
  'openai-compatible': { required: ['LLM_BASE_URL', 'LLM_MODEL'] },
  offline: { required: [] },
};

type Given = Partial<Record<EnvName, unknown>>;

/** The provider that is asked for, else the first one whose key or URL is there. */
export function chosenProvider(values: Given): LlmProvider {
  if (values.LLM_PROVIDER) return values.LLM_PROVIDER as LlmProvider;
  if (values.OPENAI_API_KEY) return 'openai';
  if (values.DEEPSEEK_API_KEY) return 'deepseek';
  if (values.GLM_API_KEY) return 'glm';
  return values.LLM_BASE_URL ? 'openai-compatible' : 'offline';
}

/** Key and base URL of the chosen provider, and only those: another provider's key never leaves the environment. */
export function providerAccess(provider: LlmProvider, values: EnvValues): { apiKey?: string; baseUrl?: string } {
  if (provider === 'offline') return {};
  const { key, baseUrl } = VARIABLES[provider];
  return {
    apiKey: (key && values[key]) ?? values.LLM_API_KEY,
    baseUrl: (baseUrl && values[baseUrl]) ?? values.LLM_BASE_URL,
  };
}

/** One line for every variable the provider needs and does not have. */
export function missingForProvider(provider: LlmProvider, given: Given): string[] {
  return VARIABLES[provider].required
    .filter((name) => !given[name] && !(name.endsWith('_API_KEY') && given.LLM_API_KEY))
    .map(
      (name) => `${name}: is not set, and the provider ${provider} needs it: set it, or choose another LLM_PROVIDER`,
    );
}
