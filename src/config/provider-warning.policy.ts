import { endpointIn } from './env-value.schema.js';
import { LLM_PROVIDERS } from './model-option.parser.js';
import { chosenProvider, firstOwn, type Given, type ProviderVariable, variablesOf } from './provider.policy.js';

/** Warnings: provider variables without effect, and a surprising choice of provider. */
export function providerWarnings(given: Given): string[] {
  const chosen = chosenProvider(given);
  return [
    ...surprises(given),
    ...urlsWithoutKey(chosen, given),
    ...endpoints(given),
    ...(chosen === 'offline' ? ownerless(given) : overruled(chosen, given)),
  ];
}

function surprises(given: Given): string[] {
  const other = firstOwn(given);
  if (given.LLM_PROVIDER || !given.LLM_BASE_URL || !other) return [];
  const { key, baseUrl } = variablesOf(other);
  return [
    `LLM_BASE_URL makes openai-compatible the provider, although ${key ?? baseUrl} is set; set LLM_PROVIDER to choose one`,
  ];
}

function urlsWithoutKey(chosen: string, given: Given): string[] {
  return LLM_PROVIDERS.filter((provider) => provider !== chosen)
    .map(variablesOf)
    .filter(({ key, baseUrl }) => key && baseUrl && given[baseUrl] && !given[key])
    .map(({ key, baseUrl }) => `${baseUrl} does nothing without ${key}`);
}

/** Base URLs that name a complete endpoint. Only the endpoint is shown: the URL's query may contain a key. */
function endpoints(given: Given): string[] {
  const names = ['LLM_BASE_URL' as const, ...LLM_PROVIDERS.flatMap((provider) => variablesOf(provider).baseUrl ?? [])];
  return names.flatMap((name) => {
    const endpoint = endpointIn(given[name] as string | undefined);
    return endpoint === undefined
      ? []
      : [`${name} ends with ${endpoint}, which Jackdaw adds itself: the ending is removed; give the base URL alone`];
  });
}

/** The general variables that the provider's own variables override. */
function overruled(chosen: string, given: Given): string[] {
  const { key, baseUrl, headers } = variablesOf(chosen);
  const url = overruling('LLM_BASE_URL', baseUrl, given);
  const isKeyOfUrl = given.LLM_BASE_URL && url.length === 0;
  if (isKeyOfUrl) return url;
  return [...url, ...overruling('LLM_API_KEY', key, given), ...overruling('LLM_HEADERS', headers, given)];
}

function overruling(general: ProviderVariable, own: ProviderVariable | undefined, given: Given): string[] {
  return given[general] && own && given[own] ? [`${general} does nothing: ${own} is set`] : [];
}

/** General variables without a provider. */
function ownerless(given: Given): string[] {
  if (given.LLM_PROVIDER) return [];
  return (['LLM_API_KEY', 'LLM_HEADERS', 'LLM_MODEL'] as const)
    .filter((name) => given[name])
    .map((name) => `${name} does nothing with the offline model; set LLM_PROVIDER to its provider`);
}
