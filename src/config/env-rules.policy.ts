import type { EnvName, EnvValues } from './env.schema.js';
import { mistakeLine } from './config-invalid.error.js';
import { isLoopback } from './loopback.policy.js';
import { chosenProvider, missingForProvider, strayKey } from './provider.policy.js';

export type GivenEnv = Readonly<Partial<Record<EnvName, string>>>;

/** What is wrong with the variables together. `values` lacks those that are wrong by themselves. */
export function mistakesBetween(values: Readonly<Partial<EnvValues>>, given: GivenEnv): string[] {
  return [...hostMistakes(values, given), ...strictMistakes(values, given), ...providerMistakes(values, given)];
}

function hostMistakes({ HOST }: Readonly<Partial<EnvValues>>, given: GivenEnv): string[] {
  if (!HOST || isLoopback(HOST) || given.API_KEYS) return [];
  const fault =
    'is reached by other machines, and API_KEYS is not set: set API_KEYS (`npm run key` makes an entry) or use 127.0.0.1';
  return [mistakeLine('HOST', HOST, fault)];
}

function strictMistakes({ ENCRYPTION_STRICT }: Readonly<Partial<EnvValues>>, given: GivenEnv): string[] {
  if (!ENCRYPTION_STRICT || given.ENCRYPTION_KEYS) return [];
  return [
    mistakeLine('ENCRYPTION_STRICT', given.ENCRYPTION_STRICT ?? '', 'needs ENCRYPTION_KEYS: set them, or leave it out'),
  ];
}

function providerMistakes(values: Readonly<Partial<EnvValues>>, given: GivenEnv): string[] {
  const isProviderWrong = given.LLM_PROVIDER && !values.LLM_PROVIDER;
  if (isProviderWrong) return [];
  const provider = chosenProvider(given);
  return [...missingForProvider(provider, given), ...strayKey(provider, given)];
}
