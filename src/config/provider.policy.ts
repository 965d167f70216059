import type { ProviderValues, RequestHeaders } from './provider-variable.schema.js';
import type { LlmProvider } from './model-option.parser.js';
import { compact } from './namespace.factory.js';

export type ProviderVariable = keyof ProviderValues;
type KeyName = ProviderVariable & `${string}_API_KEY`;

interface ProviderVariables {
  readonly key?: KeyName;
  readonly baseUrl?: ProviderVariable & (`${string}_BASE_URL` | `${string}_ENDPOINT`);
  readonly headers?: ProviderVariable & `${string}_HEADERS`;
  readonly required: readonly ProviderVariable[];
}

/** The variables of each provider. For the chosen one, `LLM_API_KEY` and `LLM_BASE_URL` replace absent variables. */
const VARIABLES: Record<LlmProvider, ProviderVariables> = {
  openai: {
    key: 'OPENAI_API_KEY',
    baseUrl: 'OPENAI_BASE_URL',
    headers: 'OPENAI_HEADERS',
    required: ['OPENAI_API_KEY'],
  },
  anthropic: {
    key: 'ANTHROPIC_API_KEY',
    baseUrl: 'ANTHROPIC_BASE_URL',
    headers: 'ANTHROPIC_HEADERS',
    required: ['ANTHROPIC_API_KEY'],
  },
  azure: {
    key: 'AZURE_OPENAI_API_KEY',
    baseUrl: 'AZURE_OPENAI_ENDPOINT',
    headers: 'AZURE_OPENAI_HEADERS',
    required: ['AZURE_OPENAI_API_KEY', 'AZURE_OPENAI_ENDPOINT', 'LLM_MODEL'],
  },
  deepseek: {
    key: 'DEEPSEEK_API_KEY',
    baseUrl: 'DEEPSEEK_BASE_URL',
    headers: 'DEEPSEEK_HEADERS',
    required: ['DEEPSEEK_API_KEY'],
  },
  glm: {
    key: 'GLM_API_KEY',
    baseUrl: 'GLM_BASE_URL',
    headers: 'GLM_HEADERS',
    required: ['GLM_API_KEY'],
  },
  ollama: { baseUrl: 'OLLAMA_BASE_URL', headers: 'OLLAMA_HEADERS', required: [] },
  'openai-compatible': { required: ['LLM_BASE_URL', 'LLM_MODEL'] },
  offline: { required: [] },
};

/** The variables of a provider; a provider of the application has only the general ones. */
export function variablesOf(provider: string): ProviderVariables {
  return Object.hasOwn(VARIABLES, provider) ? VARIABLES[provider as LlmProvider] : { required: [] };
}

export type Given = Partial<Record<ProviderVariable, unknown>>;

/** The access data of a provider; an absent field means the provider's default. */
export interface ProviderAccess {
  readonly apiKey?: string;
  /** All keys if there are several, including `apiKey`. */
  readonly apiKeys?: readonly string[];
  /** The file of the keys, which is reloaded when it changes. */
  readonly apiKeyFile?: string;
  readonly baseUrl?: string;
  /** Further headers of requests, by lower-case names. */
  readonly headers?: RequestHeaders;
  /** API version of Azure: `v1`, or a date. */
  readonly apiVersion?: string;
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

/** An error for every required variable of the provider that is not set. @param hasNoCalls it then needs no key */
export function missingForProvider(provider: string, given: Given, hasNoCalls: boolean): string[] {
  const { required, key, baseUrl } = variablesOf(provider);
  return required
    .filter((name) => !(hasNoCalls && name === key))
    .filter((name) => !given[name] && !(name === key && given.LLM_API_KEY) && !(name === baseUrl && given.LLM_BASE_URL))
    .map(
      (name) => `${name}: is not set, and the provider ${provider} needs it: set it, or choose another LLM_PROVIDER`,
    );
}

/** The provider options of an application's code. */
interface ProviderChoice {
  readonly apiKey?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly headers?: RequestHeaders;
}

/**
 * The variables that choose a provider in code, with a key for it alone. Overrides the environment's other keys and
 * URLs that would apply to this provider.
 */
export function providerEnv(
  provider: string,
  { apiKey, model, baseUrl, headers }: ProviderChoice,
): Record<string, string> {
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
    ...headerEnv(own, headers, baseUrl !== undefined),
  };
}

/** The headers of a provider. Those of the environment are not used at another address: they may belong to another party. */
function headerEnv(
  own: ProviderVariables,
  headers: RequestHeaders | undefined,
  hasAddress: boolean,
): Record<string, string> {
  const name = own.headers ?? 'LLM_HEADERS';
  const replaced = [
    ...(own.baseUrl ? ['LLM_HEADERS'] : []),
    ...(headers !== undefined || hasAddress ? ['LLM_HEADERS', name] : []),
  ];
  const empty = Object.fromEntries(replaced.flatMap((one) => [one, `${one}_FILE`]).map((one) => [one, '']));
  return { ...empty, ...(headers && { [name]: JSON.stringify(headers) }) };
}

/**
 * Key and base URL of a provider: its own, else for the chosen one the general ones. `LLM_BASE_URL` is used with
 * `LLM_API_KEY` only: a provider's own key is never sent to an address that may belong to another party.
 */
export function providerAccess(provider: string, values: ProviderValues): ProviderAccess {
  const given = compact({ ...keyAndUrl(provider, values), headers: headersOf(provider, values) });
  return provider === 'azure' ? { ...given, apiVersion: values.AZURE_OPENAI_API_VERSION } : given;
}

function keyAndUrl(provider: string, values: ProviderValues): ProviderAccess {
  const { key, baseUrl } = variablesOf(provider);
  const own = { ...keysBy(key, values), baseUrl: baseUrl && values[baseUrl] };
  if (provider === 'offline' || provider !== chosenProvider(values)) return own;
  const general = keysBy('LLM_API_KEY', values);
  if (values.LLM_BASE_URL && !own.baseUrl) return { ...general, baseUrl: values.LLM_BASE_URL };
  return own.apiKey === undefined ? { ...general, baseUrl: own.baseUrl } : own;
}

/** As keys: a provider's own headers are never sent to the address of `LLM_BASE_URL`. */
function headersOf(provider: string, values: ProviderValues): RequestHeaders | undefined {
  const { headers, baseUrl } = variablesOf(provider);
  const own = headers && values[headers];
  if (provider === 'offline' || provider !== chosenProvider(values)) return own;
  const isGeneral = values.LLM_BASE_URL !== undefined && !(baseUrl && values[baseUrl]);
  return isGeneral ? values.LLM_HEADERS : (own ?? values.LLM_HEADERS);
}

function keysBy(name: KeyName | undefined, values: ProviderValues): ProviderAccess {
  if (name === undefined) return {};
  return { apiKey: values[name], apiKeys: values[`${name}S`], apiKeyFile: values[`${name}_FILE`] };
}
