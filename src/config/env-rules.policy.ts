import type { EnvName, EnvValues } from './env.schema.js';
import { mistakeLine } from './config-invalid.error.js';
import { isCluster } from './cluster.policy.js';
import { isLoopback } from './loopback.policy.js';
import { chosenProvider, missingForProvider, strayKey } from './provider.policy.js';
import { toolStateMistakes } from './tool-state-rules.policy.js';
import { secretMistakes } from './tool-secret.policy.js';

export type GivenEnv = Readonly<Partial<Record<EnvName, string>>>;

/** Errors between several variables. `values` lacks variables that are invalid by themselves. */
export function mistakesBetween(
  values: Readonly<Partial<EnvValues>>,
  given: GivenEnv,
  hasAuthenticator: boolean,
): string[] {
  const hostFaults = hasAuthenticator ? [] : hostMistakes(values, given);
  return [
    ...hostFaults,
    ...strictMistakes(values, given),
    ...providerMistakes(values, given),
    ...storeMistakes(values),
    ...cacheMistakes(values),
    ...budgetMistakes(values, given),
    ...secretMistakes(given, values.TOOL_SECRETS),
    ...toolStateMistakes(values, given),
  ];
}

function storeMistakes(values: Readonly<Partial<EnvValues>>): string[] {
  const { SESSION_STORE: store, DATABASE_URL, REDIS_URL } = values;
  const mistake = (fault: string) => [mistakeLine('SESSION_STORE', store!, fault)];
  if (store === 'redis' && REDIS_URL === undefined) return mistake('needs REDIS_URL, or give the Redis’ own URL');
  if (values.ENCRYPTION_KEYS && store !== 'database')
    return mistake('stores messages unencrypted, and ENCRYPTION_KEYS is set: use `database`');
  const isShared = isCluster({ DATABASE_URL, REDIS_URL });
  if ((store !== 'file' && store !== 'memory') || !isShared) return [];
  return mistake('serves one process only, and DATABASE_URL is shared by many: use `database`, `redis` or a URL');
}

function cacheMistakes({ LLM_CACHE, REDIS_URL, ENCRYPTION_KEYS }: Readonly<Partial<EnvValues>>): string[] {
  if (LLM_CACHE !== 'redis') return [];
  if (REDIS_URL === undefined) return [mistakeLine('LLM_CACHE', LLM_CACHE, 'needs REDIS_URL: set it, or use `memory`')];
  if (!ENCRYPTION_KEYS) return [];
  const fault = 'stores replies unencrypted, and ENCRYPTION_KEYS is set: use `memory`';
  return [mistakeLine('LLM_CACHE', LLM_CACHE, fault)];
}

const BUDGETS = ['BUDGET_RUN', 'BUDGET_SESSION', 'BUDGET_TENANT_DAY', 'BUDGET_DAY'] as const;

function budgetMistakes(values: Readonly<Partial<EnvValues>>, given: GivenEnv): string[] {
  if (given.LLM_PRICES) return [];
  const priced = BUDGETS.filter((name) => values[name]?.cost !== undefined);
  return priced.map((name) =>
    mistakeLine(
      name,
      given[name] ?? '',
      'needs LLM_PRICES, as models have no cost without them: set them, or give tokens',
    ),
  );
}

function hostMistakes({ HOST }: Readonly<Partial<EnvValues>>, given: GivenEnv): string[] {
  if (!HOST || isLoopback(HOST) || given.API_KEYS) return [];
  const fault =
    'is reachable from other machines, and API_KEYS is not set: set API_KEYS (`npm run key` makes an entry) or use 127.0.0.1';
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
