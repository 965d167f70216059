import { isReplay } from './build.policy.js';
import { mistakeLine } from './config-invalid.error.js';
import { secretMistakes } from './tool-secret.policy.js';
import { defaultOf, type EnvName, type EnvValues } from './env.schema.js';
import { graceMistakes, healthMistakes, metricsMistakes, workerMistakes } from './listener-rules.policy.js';
import type { ConfigContext } from './namespace.factory.js';
import { isCluster } from './namespaces/database.config.js';
import { isLoopback } from './namespaces/server.config.js';
import { chosenProvider, missingForProvider, variablesOf } from './provider.policy.js';
import { databaseKind, schemaOfUrl } from './store-url.schema.js';

type Values = Readonly<Partial<EnvValues>>;
type GivenEnv = Readonly<Partial<Record<EnvName, string>>>;

/** Errors between several variables. `values` lacks variables that are invalid by themselves. */
export function mistakesBetween(
  values: Values,
  given: GivenEnv,
  {
    hasAuthenticator,
    hasPrices,
    isHost,
  }: Pick<ConfigContext, 'hasAuthenticator' | 'isHost'> & { readonly hasPrices: boolean },
): string[] {
  const hostFaults = hasAuthenticator || given.API_KEYS ? [] : openServerMistakes(values, given);
  return [
    ...hostFaults,
    ...strictMistakes(values, given),
    ...providerMistakes(values, given),
    ...schemaMistakes(values),
    ...storeMistakes(values),
    ...cacheMistakes(values),
    ...(hasPrices ? [] : budgetMistakes(values, given)),
    ...secretMistakes(given, values.TOOL_SECRETS),
    ...idleMistakes(values, given),
    ...toolStateMistakes(values),
    ...graceMistakes(values, isHost),
    ...healthMistakes(given, isHost),
    ...metricsMistakes(values, given),
    ...workerMistakes(given, values, isHost),
    ...webhookMistakes(given),
  ];
}

function schemaMistakes({ DATABASE_SCHEMA: schema, DATABASE_URL: url, SESSION_STORE: store = '' }: Values): string[] {
  if (schema === undefined) return [];
  const mistake = (fault: string) => [mistakeLine('DATABASE_SCHEMA', schema, fault)];
  const inUrl = schemaOfUrl(url);
  if (inUrl !== undefined && inUrl !== schema)
    return mistake('and the schema of DATABASE_URL differ: give one of them');
  if (databaseKind(url) === 'postgres' || databaseKind(store) === 'postgres') return [];
  return mistake(
    `has no effect, as ${databaseKind(url) === 'mariadb' ? 'MariaDB has no schemas: name another database of its server in DATABASE_URL' : 'SQLite has no schemas: give a PostgreSQL DATABASE_URL, or leave it out'}`,
  );
}

const OF_WEBHOOK_URL = ['WEBHOOK_SECRET', 'WEBHOOK_EVENTS', 'WEBHOOK_CONTENT'] as const;

function webhookMistakes(given: GivenEnv): string[] {
  if (given.WEBHOOK_URL === undefined) {
    // The value of a secret is not part of an error.
    const set = OF_WEBHOOK_URL.filter((name) => given[name] !== undefined);
    return set.map((name) => `${name} has no effect without WEBHOOK_URL: set both, or leave it out`);
  }
  return given.WEBHOOK_SECRET === undefined
    ? ['WEBHOOK_URL needs WEBHOOK_SECRET, which signs its requests, such as: echo "whsec_$(openssl rand -base64 32)"']
    : [];
}

function storeMistakes(values: Values): string[] {
  const { SESSION_STORE: store, REDIS_URL } = values;
  const mistake = (fault: string) => [mistakeLine('SESSION_STORE', store!, fault)];
  if (store === 'redis' && REDIS_URL === undefined) return mistake('needs REDIS_URL, or give the Redis’ own URL');
  if (values.ENCRYPTION_KEYS && store !== 'database')
    return mistake('stores messages unencrypted, and ENCRYPTION_KEYS is set: use `database`');
  if ((store !== 'file' && store !== 'memory') || !isShared(values)) return [];
  return mistake('serves one process only, and DATABASE_URL is shared by many: use `database`, `redis` or a URL');
}

function cacheMistakes({ LLM_CACHE, REDIS_URL, ENCRYPTION_KEYS }: Values): string[] {
  if (LLM_CACHE !== 'redis') return [];
  if (REDIS_URL === undefined) return [mistakeLine('LLM_CACHE', LLM_CACHE, 'needs REDIS_URL: set it, or use `memory`')];
  if (!ENCRYPTION_KEYS) return [];
  const fault = 'stores replies unencrypted, and ENCRYPTION_KEYS is set: use `memory`';
  return [mistakeLine('LLM_CACHE', LLM_CACHE, fault)];
}

const BUDGETS = ['BUDGET_RUN', 'BUDGET_SESSION', 'BUDGET_TENANT_DAY', 'BUDGET_DAY'] as const;

function budgetMistakes(values: Values, given: GivenEnv): string[] {
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

/** Errors of a server without keys, to which each caller is an admin. */
function openServerMistakes({ HOST, TRUST_PROXY }: Values, given: GivenEnv): string[] {
  const remedy = 'API_KEYS is not set: set API_KEYS (`npm run key` makes an entry)';
  const isOpen = HOST !== undefined && !isLoopback(HOST);
  return [
    ...(isOpen ? [mistakeLine('HOST', HOST, `is reachable from other machines, and ${remedy} or use 127.0.0.1`)] : []),
    ...(!TRUST_PROXY
      ? []
      : [mistakeLine('TRUST_PROXY', given.TRUST_PROXY!, `serves other machines through a proxy, and ${remedy}`)]),
  ];
}

function strictMistakes({ ENCRYPTION_STRICT }: Values, given: GivenEnv): string[] {
  if (!ENCRYPTION_STRICT || given.ENCRYPTION_KEYS) return [];
  return [
    mistakeLine('ENCRYPTION_STRICT', given.ENCRYPTION_STRICT ?? '', 'needs ENCRYPTION_KEYS: set them, or leave it out'),
  ];
}

function providerMistakes(values: Values, given: GivenEnv): string[] {
  const isProviderWrong = given.LLM_PROVIDER && !values.LLM_PROVIDER;
  if (isProviderWrong) return [];
  const provider = chosenProvider(given);
  return [...missingForProvider(provider, given, isReplay(values)), ...strayKey(provider, given)];
}

/** An error for a provider's own key that would be sent to `LLM_BASE_URL`. */
function strayKey(provider: string, given: GivenEnv): string[] {
  const { key, baseUrl } = variablesOf(provider);
  const { LLM_BASE_URL, LLM_API_KEY } = given;
  if (!key || !baseUrl || !given[key] || given[baseUrl] || !LLM_BASE_URL || LLM_API_KEY) return [];
  const fault = `accepts only LLM_API_KEY, not ${key}: give the key as LLM_API_KEY, or the URL as ${baseUrl}`;
  return [mistakeLine('LLM_BASE_URL', LLM_BASE_URL, fault)];
}

type IdleRule = readonly [names: readonly EnvName[], isIdle: (values: Values) => boolean, why: string];

/** Built-in memory policies that ignore `AGENT_MEMORY_KEEP_FIRST`; a custom policy may use it. */
const POLICIES_WITHOUT_FIRST: readonly unknown[] = ['sliding_window', 'lru', 'token_budget', 'summary'];

/** Variables without effect under a condition, and the error. */
const IDLE: readonly IdleRule[] = [
  [['LLM_CACHE_TTL_SECONDS'], ({ LLM_CACHE }) => LLM_CACHE === 'off', without('LLM_CACHE')],
  [
    ['LLM_CACHE_MAX_BYTES'],
    ({ LLM_CACHE }) => LLM_CACHE === 'off' || LLM_CACHE === 'redis',
    without('LLM_CACHE=memory'),
  ],
  [
    ['LLM_CASSETTE_MODE', 'LLM_CASSETTE_TOOLS'],
    ({ LLM_CASSETTE: file }) => file === undefined,
    without('LLM_CASSETTE'),
  ],
  [['LLM_QUEUE_LIMIT'], ({ LLM_CONCURRENCY }) => LLM_CONCURRENCY === 0, without('LLM_CONCURRENCY')],
  [['BUDGET_REPLY_TOKENS'], (values) => BUDGETS.every((name) => values[name] === undefined), without('a budget')],
  [
    ['AGENT_MEMORY_KEEP_FIRST'],
    ({ AGENT_MEMORY_POLICY }) => POLICIES_WITHOUT_FIRST.includes(AGENT_MEMORY_POLICY),
    without('AGENT_MEMORY_POLICY=fixed_window'),
  ],
  [
    ['MCP_MAX_SESSIONS', 'MCP_SESSION_IDLE_SECONDS'],
    ({ MCP_SERVER }) => MCP_SERVER === 'off',
    'has no effect with MCP_SERVER=off: leave one of them out',
  ],
  [
    ['TOOL_STATE_CLEANUP_INTERVAL_MS'],
    ({ TOOL_STATE_CLEANUP }) => TOOL_STATE_CLEANUP === false,
    without('TOOL_STATE_CLEANUP'),
  ],
  [
    ['TOOL_STATE_BACKUP_INTERVAL_MS', 'TOOL_STATE_BACKUP_RETENTION_DAYS'],
    ({ TOOL_STATE_BACKUP }) => TOOL_STATE_BACKUP !== true,
    without('TOOL_STATE_BACKUP=true'),
  ],
  [['TOOL_STATE_REDIS_PREFIX', 'TOOL_STATE_REDIS_DB'], hasNoRedis, without('TOOL_STATE_REDIS_URL')],
  [
    ['TOOL_STATE_FORMAT', 'TOOL_STATE_PATH', 'TOOL_STATE_MAX_PER_SESSION', 'TOOL_STATE_SESSION_TIMEOUT_MS'],
    isShared,
    'has no effect where processes share DATABASE_URL: only `distributed` stores states there; leave this out',
  ],
  [
    ['TOOL_STATE_SYNC_ON_CHANGE', 'TOOL_STATE_SYNC_INTERVAL_MS'],
    (values) => isShared(values) && hasNoRedis(values),
    without('TOOL_STATE_REDIS_URL'),
  ],
  [
    ['LLM_QUIRKS'],
    ({ LLM_UNSUPPORTED_PARAMETERS }) => LLM_UNSUPPORTED_PARAMETERS === 'drop',
    'has no effect with LLM_UNSUPPORTED_PARAMETERS=drop, which permits every parameter: leave one of them out',
  ],
];

/** Variables with little or no effect under a condition, and the warning. Single tools may choose other managers. */
const RARELY_USED: readonly IdleRule[] = [
  [
    ['LLM_BREAKER_RESET_MS'],
    ({ LLM_BREAKER_FAILURES }) => LLM_BREAKER_FAILURES === 0,
    'does nothing, as LLM_BREAKER_FAILURES=0 disables the circuit breaker',
  ],
  [
    ['LLM_RETRY_DELAY_MS', 'LLM_RETRY_MAX_WAIT_MS'],
    ({ LLM_MAX_ATTEMPTS }) => LLM_MAX_ATTEMPTS === 1,
    'does nothing, as LLM_MAX_ATTEMPTS=1 disables retries',
  ],
  [
    ['ACCESS_LOG_RETENTION_DAYS'],
    ({ ACCESS_LOG }) => ACCESS_LOG === 'off',
    'only deletes old entries: ACCESS_LOG=on writes new ones',
  ],
  [['TOOL_STATE_FORMAT', 'TOOL_STATE_PATH'], isOtherManager('persistent'), onlyWithManager('persistent')],
  [
    ['TOOL_STATE_MAX_PER_SESSION', 'TOOL_STATE_SESSION_TIMEOUT_MS'],
    isOtherManager('session'),
    onlyWithManager('session'),
  ],
  [['TOOL_STATE_REDIS_URL'], isOtherManager('distributed'), onlyWithManager('distributed')],
  [
    ['CLUSTER_LEASE_MS', 'CLUSTER_CHECK_MS'],
    (values) => !isShared(values),
    'does nothing, as this process owns its database: several processes need PostgreSQL, or MariaDB with REDIS_URL',
  ],
  [
    ['REDIS_URL'],
    (values) => databaseKind(values.DATABASE_URL) === 'sqlite' && !usesRedis(values),
    'stores nothing beside SQLite, except the rate limits of a security policy: set SESSION_STORE=redis or LLM_CACHE=redis, or leave it out',
  ],
];

/** An error for each variable without effect. */
function idleMistakes(values: Values, given: GivenEnv): string[] {
  return idle(IDLE, values, given).map(([name, why]) => mistakeLine(name, given[name]!, why));
}

/** A warning for each variable that has an effect in special cases only. */
export function warningsBetween(values: Values, given: GivenEnv): string[] {
  return idle(RARELY_USED, values, given).map(([name, why]) => `${name} ${why}`);
}

function idle(rules: readonly IdleRule[], values: Values, given: GivenEnv): (readonly [name: EnvName, why: string])[] {
  return rules
    .filter(([, isIdle]) => isIdle(values))
    .flatMap(([names, , why]) =>
      names.filter((name) => given[name] && given[name] !== defaultOf(name)).map((name) => [name, why] as const),
    );
}

function isOtherManager(manager: NonNullable<Values['TOOL_STATE_MANAGER']>) {
  return (values: Values) => !isShared(values) && (values.TOOL_STATE_MANAGER ?? 'memory') !== manager;
}

function onlyWithManager(manager: string): string {
  return `only applies to tools that choose the manager ${manager}: TOOL_STATE_MANAGER=${manager} chooses it for all`;
}

function usesRedis({ SESSION_STORE, LLM_CACHE, SECURITY_POLICY_FILE }: Values): boolean {
  return SESSION_STORE === 'redis' || LLM_CACHE === 'redis' || SECURITY_POLICY_FILE !== undefined;
}

function toolStateMistakes(values: Values): string[] {
  const { TOOL_STATE_MANAGER: manager } = values;
  if (manager === undefined || manager === 'distributed' || !isShared(values)) return [];
  const fault = 'serves one process only, and DATABASE_URL is shared by many: use `distributed`, or leave it out';
  return [mistakeLine('TOOL_STATE_MANAGER', manager, fault)];
}

function isShared({ DATABASE_URL, REDIS_URL }: Values): boolean {
  return isCluster({ DATABASE_URL, REDIS_URL });
}

function hasNoRedis({ TOOL_STATE_REDIS_URL }: Values): boolean {
  return TOOL_STATE_REDIS_URL === undefined;
}

function without(condition: string): string {
  return `has no effect without ${condition}: set that, or leave this out`;
}
