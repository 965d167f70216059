import { AppConfig, LLM_PROVIDERS } from './app-config.types.js';
import type { EnvValues } from './env.schema.js';
import { chosenProvider, providerAccess } from './provider.policy.js';
import { databaseKind } from './store-url.schema.js';

/** Groups checked variables by what they configure. */
export function createAppConfig(values: EnvValues): AppConfig {
  return new AppConfig({
    http: { port: values.PORT, host: values.HOST },
    dataDir: values.DATA_DIR,
    database: { kind: databaseKind(values.DATABASE_URL), ...compact({ url: values.DATABASE_URL }) },
    redis: compact({ url: values.REDIS_URL }),
    auth: { apiKeys: values.API_KEYS ?? [] },
    log: { level: values.LOG_LEVEL },
    llm: llmOf(values),
    agent: {
      name: values.AGENT_NAME,
      ...compact({ instructions: values.AGENT_INSTRUCTIONS }),
      maxIterations: values.AGENT_MAX_ITERATIONS,
      runTimeoutMs: values.AGENT_RUN_TIMEOUT_MS,
      maxResultBytes: values.AGENT_MAX_RESULT_BYTES,
      historyTurns: values.AGENT_HISTORY_TURNS,
    },
    run: {
      concurrency: values.RUN_CONCURRENCY,
      tenantConcurrency: values.RUN_TENANT_CONCURRENCY,
      agentConcurrency: values.RUN_AGENT_CONCURRENCY,
      queueLimit: values.RUN_QUEUE_LIMIT,
      tenantQueueLimit: values.RUN_TENANT_QUEUE_LIMIT,
      tenantRatePerMinute: values.RUN_TENANT_RATE_PER_MINUTE,
    },
    cluster: {
      isEnabled: isCluster(values),
      leaseMs: values.CLUSTER_LEASE_MS,
      checkMs: values.CLUSTER_CHECK_MS,
    },
    retention: {
      completedDays: values.RUN_RETENTION_DAYS,
      failedDays: values.RUN_RETENTION_FAILED_DAYS ?? values.RUN_RETENTION_DAYS,
    },
    encryption: { keys: values.ENCRYPTION_KEYS ?? [], isStrict: values.ENCRYPTION_STRICT },
    accessLog: { isEnabled: values.ACCESS_LOG === 'on', keptDays: values.ACCESS_LOG_RETENTION_DAYS },
    // The documents stand outside the guard.
    docs: { enabled: values.DOCS_ENABLED ?? !values.API_KEYS },
    shutdownTimeoutMs: values.SHUTDOWN_TIMEOUT_MS,
  });
}

/** PostgreSQL serves many processes by itself; MariaDB has nothing to wake them with, and needs a Redis. */
function isCluster({ DATABASE_URL, REDIS_URL }: EnvValues): boolean {
  const kind = databaseKind(DATABASE_URL);
  return kind === 'postgres' || (kind === 'mariadb' && REDIS_URL !== undefined);
}

function llmOf(values: EnvValues): AppConfig['llm'] {
  return {
    provider: chosenProvider(values),
    protocol: values.LLM_PROTOCOL,
    timeoutMs: values.LLM_TIMEOUT_MS,
    ...compact({ model: values.LLM_MODEL, temperature: values.LLM_TEMPERATURE }),
    access: Object.fromEntries(
      LLM_PROVIDERS.map((provider) => [provider, compact({ ...providerAccess(provider, values) })]),
    ) as AppConfig['llm']['access'],
  };
}

/** Without the fields that are not set, so that a spread never overwrites a default with undefined. */
function compact<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
