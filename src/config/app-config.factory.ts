import { isCluster } from './cluster.policy.js';
import { AppConfig, LLM_PROVIDERS } from './app-config.types.js';
import type { EnvValues } from './env.schema.js';
import type { McpServersFile } from './mcp-config.types.js';
import { chosenProvider, providerAccess } from './provider.policy.js';
import { databaseKind, sessionStoreChoice } from './store-url.schema.js';
import { toolStateOf } from './tool-state-config.factory.js';

/** Upper limit for a provider's `Retry-After`. */
const MAX_RETRY_DELAY_MS = 60_000;

/** Values from files and from variables that other variables name. */
export interface NamedValues {
  readonly toolSecrets: Readonly<Record<string, string>>;
  readonly mcpServers: McpServersFile;
  readonly agentVariables: Readonly<Record<string, string>>;
}

/** Groups the checked variables by module. */
export function createAppConfig(
  values: EnvValues,
  hasAuthenticator: boolean,
  { toolSecrets, mcpServers, agentVariables }: NamedValues,
): AppConfig {
  return new AppConfig({
    http: { port: values.PORT, host: values.HOST },
    dataDir: values.DATA_DIR,
    database: { kind: databaseKind(values.DATABASE_URL), ...compact({ url: values.DATABASE_URL }) },
    redis: compact({ url: values.REDIS_URL }),
    auth: { apiKeys: values.API_KEYS ?? [] },
    log: { level: values.LOG_LEVEL },
    llm: llmOf(values),
    agent: agentOf(values),
    agentFiles: { ...compact({ dir: values.AGENTS_DIR }), variables: agentVariables },
    workflows: compact({ dir: values.WORKFLOWS_DIR }),
    tools: { restFiles: values.REST_TOOLS ?? [], secrets: toolSecrets },
    toolState: toolStateOf(values),
    mcp: mcpOf(values, mcpServers),
    outgoing: { allow: values.OUTGOING_ALLOW ?? [], ports: values.OUTGOING_PORTS ?? [] },
    cache: { kind: values.LLM_CACHE, ttlSeconds: values.LLM_CACHE_TTL_SECONDS, maxBytes: values.LLM_CACHE_MAX_BYTES },
    longTermMemory: { isEnabled: values.LONG_TERM_MEMORY === 'on' },
    run: runOf(values),
    cluster: clusterOf(values),
    session: {
      store: sessionStoreChoice(values.SESSION_STORE, values.REDIS_URL),
      ttlSeconds: values.SESSION_TTL_SECONDS,
    },
    retention: {
      completedDays: values.RUN_RETENTION_DAYS,
      failedDays: values.RUN_RETENTION_FAILED_DAYS ?? values.RUN_RETENTION_DAYS,
      usageDays: values.USAGE_RETENTION_DAYS,
    },
    encryption: { keys: values.ENCRYPTION_KEYS ?? [], isStrict: values.ENCRYPTION_STRICT },
    accessLog: { isEnabled: values.ACCESS_LOG === 'on', keptDays: values.ACCESS_LOG_RETENTION_DAYS },
    security: compact({ policyFile: values.SECURITY_POLICY_FILE }),
    mcpServer: mcpServerOf(values),
    // The OpenAPI documents are served without authentication.
    docs: { enabled: values.DOCS_ENABLED ?? !(values.API_KEYS || hasAuthenticator) },
    shutdownTimeoutMs: values.SHUTDOWN_TIMEOUT_MS,
  });
}

function agentOf(values: EnvValues): AppConfig['agent'] {
  return {
    name: values.AGENT_NAME,
    ...compact({ instructions: values.AGENT_INSTRUCTIONS }),
    maxIterations: values.AGENT_MAX_ITERATIONS,
    runTimeoutMs: values.AGENT_RUN_TIMEOUT_MS,
    maxResultBytes: values.AGENT_MAX_RESULT_BYTES,
    maxDepth: values.AGENT_MAX_DEPTH,
    maxImageBytes: values.AGENT_MAX_IMAGE_BYTES,
    memory: memoryOf(values),
  };
}

function mcpOf(values: EnvValues, file: McpServersFile): AppConfig['mcp'] {
  return {
    file,
    timeoutMs: values.MCP_TIMEOUT_MS,
    maxMessageBytes: values.MCP_MAX_MESSAGE_BYTES,
    isRestOpen: values.MCP_REST_REGISTRATION,
    ...compact({ allowedCommands: values.MCP_ALLOWED_COMMANDS }),
  };
}

function mcpServerOf(values: EnvValues): AppConfig['mcpServer'] {
  return {
    isEnabled: values.MCP_SERVER === 'on',
    allowedOrigins: values.MCP_ALLOWED_ORIGINS ?? [],
    maxSessions: values.MCP_MAX_SESSIONS,
    sessionIdleMs: values.MCP_SESSION_IDLE_SECONDS * 1000,
    ...compact({ apiKey: values.MCP_STDIO_KEY }),
  };
}

function clusterOf(values: EnvValues): AppConfig['cluster'] {
  return { isEnabled: isCluster(values), leaseMs: values.CLUSTER_LEASE_MS, checkMs: values.CLUSTER_CHECK_MS };
}

function memoryOf(values: EnvValues): AppConfig['agent']['memory'] {
  return {
    enabled: values.AGENT_MEMORY_ENABLED,
    policy: values.AGENT_MEMORY_POLICY,
    includeToolCalls: values.AGENT_MEMORY_INCLUDE_TOOL_CALLS,
    keepFirst: values.AGENT_MEMORY_KEEP_FIRST,
    ...compact({
      maxMessages: values.AGENT_MEMORY_MAX_MESSAGES,
      maxContextTokens: values.AGENT_MEMORY_MAX_CONTEXT_TOKENS,
    }),
  };
}

function runOf(values: EnvValues): AppConfig['run'] {
  return {
    concurrency: values.RUN_CONCURRENCY,
    tenantConcurrency: values.RUN_TENANT_CONCURRENCY,
    agentConcurrency: values.RUN_AGENT_CONCURRENCY,
    queueLimit: values.RUN_QUEUE_LIMIT,
    tenantQueueLimit: values.RUN_TENANT_QUEUE_LIMIT,
    tenantRatePerMinute: values.RUN_TENANT_RATE_PER_MINUTE,
    sessionBusy: values.SESSION_BUSY,
  };
}

function resilienceOf(values: EnvValues): AppConfig['llm']['resilience'] {
  return {
    ...compact({ idleTimeoutMs: values.LLM_IDLE_TIMEOUT_MS }),
    totalTimeoutMs: values.LLM_TOTAL_TIMEOUT_MS,
    connectTimeoutMs: values.LLM_CONNECT_TIMEOUT_MS,
    concurrency: values.LLM_CONCURRENCY,
    queueLimit: values.LLM_QUEUE_LIMIT,
    breaker: { failures: values.LLM_BREAKER_FAILURES, resetMs: values.LLM_BREAKER_RESET_MS },
    retry: {
      maxAttempts: values.LLM_MAX_ATTEMPTS,
      baseDelayMs: values.LLM_RETRY_DELAY_MS,
      maxDelayMs: MAX_RETRY_DELAY_MS,
    },
    fallback: values.LLM_FALLBACK ?? [],
  };
}

function budgetOf(values: EnvValues): AppConfig['llm']['budget'] {
  return {
    replyTokens: values.BUDGET_REPLY_TOKENS,
    ...compact({
      run: values.BUDGET_RUN,
      session: values.BUDGET_SESSION,
      tenantDay: values.BUDGET_TENANT_DAY,
      day: values.BUDGET_DAY,
    }),
  };
}

function llmOf(values: EnvValues): AppConfig['llm'] {
  return {
    provider: chosenProvider(values),
    protocol: values.LLM_PROTOCOL,
    timeoutMs: values.LLM_TIMEOUT_MS,
    tokenCounting: values.TOKEN_COUNTING,
    unsupportedParameters: values.LLM_UNSUPPORTED_PARAMETERS,
    parameters: compact({
      temperature: values.LLM_TEMPERATURE,
      maxTokens: values.LLM_MAX_TOKENS,
      topP: values.LLM_TOP_P,
      frequencyPenalty: values.LLM_FREQUENCY_PENALTY,
      presencePenalty: values.LLM_PRESENCE_PENALTY,
      stop: values.LLM_STOP,
      seed: values.LLM_SEED,
    }),
    resilience: resilienceOf(values),
    prices: values.LLM_PRICES ?? {},
    ...(values.LLM_REQUEST_MODELS && { requestModels: values.LLM_REQUEST_MODELS }),
    budget: budgetOf(values),
    signingKeys: values.LLM_SIGNING_KEYS ?? [],
    ...compact({
      model: values.LLM_MODEL,
      capabilities: values.LLM_CAPABILITIES,
      embeddingModel: values.EMBEDDING_MODEL,
    }),
    access: Object.fromEntries(
      [...LLM_PROVIDERS, chosenProvider(values)].map((provider) => [
        provider,
        compact({ ...providerAccess(provider, values) }),
      ]),
    ),
  };
}

/** Drops undefined fields, so that a spread never overwrites a default with undefined. */
function compact<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
