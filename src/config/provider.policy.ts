import type { LlmProvider } from './app-config.types.js';
import { mistakeLine } from './config-invalid.error.js';
import type { EnvName, EnvValues } from './env.schema.js';

type KeyName = EnvName & `${string}_API_KEY`;

interface ProviderVariables {
  readonly key?: KeyName;
  readonly baseUrl?: EnvName & (`${string}_BASE_URL` | `${string}_ENDPOINT`);
  readonly required: readonly EnvName[];
}

/** The variables of each provider. For the chosen one, `LLM_API_KEY` and `LLM_BASE_URL` replace absent variables. */
const VARIABLES: Record<LlmProvider, ProviderVariables> = {
  openai: { key: 'OPENAI_API_KEY', baseUrl: 'OPENAI_BASE_URL', required: ['OPENAI_API_KEY'] },
  anthropic: { key: 'ANTHROPIC_API_KEY', baseUrl: 'ANTHROPIC_BASE_URL', required: ['ANTHROPIC_API_KEY'] },
  azure: {
    key: 'AZURE_OPENAI_API_KEY',
    baseUrl: 'AZURE_OPENAI_ENDPOINT',
    required: ['AZURE_OPENAI_API_KEY', 'AZURE_OPENAI_ENDPOINT', 'LLM_MODEL'],
  },
  deepseek: { key: 'DEEPSEEK_API_KEY', baseUrl: 'DEEPSEEK_BASE_URL', required: ['DEEPSEEK_API_KEY'] },
  glm: { key: 'GLM_API_KEY', baseUrl: 'GLM_BASE_URL', required: ['GLM_API_KEY'] },
  ollama: { baseUrl: 'OLLAMA_BASE_URL', required: [] },
  'openai-compatible': { required: ['LLM_BASE_URL', 'LLM_MODEL'] },
  offline: { required: [] },
};

/** The variables of a provider; a provider of the application has only the general ones. */
export function variablesOf(provider: string): ProviderVariables {
  return Object.hasOwn(VARIABLES, provider) ? VARIABLES[provider as LlmProvider] : { required: [] };
}

export type Given = Partial<Record<EnvName, unknown>>;

/** The access data from the variables; unset fields are undefined. */
interface GivenAccess {
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
  readonly apiVersion?: string;
  readonly apiKeys?: readonly string[];
  readonly apiKeyFile?: string;
}

/** The provider of `LLM_PROVIDER`, else that of `LLM_BASE_URL`, else the first one with a key or URL. */
export function chosenProvider(values: Given): string {
  if (values.LLM_PROVIDER) return values.LLM_PROVIDER as string;
  if (values.LLM_BASE_URL) return 'openai-compatible';
  return firstOwn(values) ?? 'offline';
}

/** The first provider with a key, or a URL for ollama, in its own variable. */
export function firstOwn(values: Given): LlmProvider | undefined {
  if (values.OPENAI_API_KEY) return 'openai';
  if (values.ANTHROPIC_API_KEY) return 'anthropic';
  if (values.AZURE_OPENAI_API_KEY) return 'azure';
  if (values.DEEPSEEK_API_KEY) return 'deepseek';
  if (values.GLM_API_KEY) return 'glm';
  return values.OLLAMA_BASE_URL ? 'ollama' : undefined;
}

/** The provider options of an application's code. */
interface ProviderChoice {
  readonly apiKey?: string;
  readonly model?: string;
  readonly baseUrl?: string;
}

/**
 * The variables that choose a provider in code, with a key for it alone. Overrides the environment's other keys and
 * URLs that would apply to this provider.
 */
export function providerEnv(provider: string, { apiKey, model, baseUrl }: ProviderChoice): Record<string, string> {
  const own = variablesOf(provider);
  const [keyName, urlName] = [own.key ?? 'LLM_API_KEY', own.baseUrl ?? 'LLM_BASE_URL'];
  const key = apiKey !== undefined && { [`${keyName}S`]: '', [`${keyName}_FILE`]: '', [keyName]: apiKey };
  const general = { ...(own.baseUrl && { LLM_BASE_URL: '' }), ...(key && own.key && { LLM_API_KEY: '' }) };
  return {
    LLM_PROVIDER: provider,
    LLM_MODEL: model ?? '',
    ...general,
    ...key,
    ...(baseUrl !== undefined && { [urlName]: baseUrl }),
  };
}

/**
 * Key and base URL of a provider: its own, else for the chosen one the general ones. `LLM_BASE_URL` is used with
 * `LLM_API_KEY` only: a provider's own key is never sent to an address that may belong to another party.
 */
export function providerAccess(provider: string, values: EnvValues): GivenAccess {
  const given = keyAndUrl(provider, values);
  return provider === 'azure' ? { ...given, apiVersion: values.AZURE_OPENAI_API_VERSION } : given;
}

function keyAndUrl(provider: string, values: EnvValues): GivenAccess {
  const { key, baseUrl } = variablesOf(provider);
  const own = { ...keysBy(key, values), baseUrl: baseUrl && values[baseUrl] };
  if (provider === 'offline' || provider !== chosenProvider(values)) return own;
  const general = keysBy('LLM_API_KEY', values);
  if (values.LLM_BASE_URL && !own.baseUrl) return { ...general, baseUrl: values.LLM_BASE_URL };
  return own.apiKey === undefined ? { ...general, baseUrl: own.baseUrl } : own;
}

function keysBy(name: KeyName | undefined, values: EnvValues): Omit<GivenAccess, 'baseUrl'> {
  if (name === undefined) return { apiKey: undefined };
  const [apiKeys, apiKeyFile] = [values[`${name}S`], values[`${name}_FILE`]];
  return { apiKey: values[name], ...(apiKeys && { apiKeys }), ...(apiKeyFile !== undefined && { apiKeyFile }) };
}

/** An error for a provider's own key that would be sent to `LLM_BASE_URL`. */
export function strayKey(provider: string, given: Partial<Record<EnvName, string>>): string[] {
  const { key, baseUrl } = variablesOf(provider);
  const { LLM_BASE_URL, LLM_API_KEY } = given;
  if (!key || !baseUrl || !given[key] || given[baseUrl] || !LLM_BASE_URL || LLM_API_KEY) return [];
  const fault = `accepts only LLM_API_KEY, not ${key}: give the key as LLM_API_KEY, or the URL as ${baseUrl}`;
  return [mistakeLine('LLM_BASE_URL', LLM_BASE_URL, fault)];
}

/** An error for every required variable of the provider that is not set. */
export function missingForProvider(provider: string, given: Given): string[] {
  const { required, key, baseUrl } = variablesOf(provider);
  return required
    .filter((name) => !given[name] && !(name === key && given.LLM_API_KEY) && !(name === baseUrl && given.LLM_BASE_URL))
    .map(
      (name) => `${name}: is not set, and the provider ${provider} needs it: set it, or choose another LLM_PROVIDER`,
    );
}
