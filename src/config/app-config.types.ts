import type { McpClientConfig } from './mcp-config.types.js';
import type { ToolStateConfig } from './tool-state-config.types.js';

/** The providers with variables of their own; an application may add others. */
export const LLM_PROVIDERS = [
  'openai',
  'anthropic',
  'azure',
  'deepseek',
  'glm',
  'ollama',
  'openai-compatible',
  'offline',
] as const;
export type LlmProvider = (typeof LLM_PROVIDERS)[number];

export const LLM_PROTOCOLS = ['auto', 'native', 'react', 'xml'] as const;
export type LlmProtocol = (typeof LLM_PROTOCOLS)[number];

/** The model capabilities, by the names of `ModelCapabilities`. */
export const CAPABILITIES = ['vision', 'imageUrls', 'functionCalling', 'jsonMode', 'forcedToolChoice'] as const;
export type CapabilityChanges = Readonly<Partial<Record<(typeof CAPABILITIES)[number], boolean>>>;

/** The handling of a parameter that a model does not support. */
export const UNSUPPORTED_PARAMETERS = ['refuse', 'drop'] as const;

export const TOKEN_COUNTINGS = ['auto', 'estimate'] as const;
export type TokenCounting = (typeof TOKEN_COUNTINGS)[number];

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type DatabaseKind = 'sqlite' | 'postgres' | 'mariadb';

/** The store of sessions' turns; `own` is the journal's database. */
export type SessionStoreChoice =
  { readonly kind: 'own' | 'memory' | 'file' } | { readonly kind: 'redis' | 'database'; readonly url: string };

/** One entry of `API_KEYS`: the principal and the hash of its key. */
export interface ApiKeyEntry {
  readonly id: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  /** SHA-256 of the key, 64 lower-case hex digits. */
  readonly sha256: string;
}

/** One entry of `ENCRYPTION_KEYS`. */
export interface EncryptionKey {
  readonly id: string;
  /** 32 bytes in base64. */
  readonly key: string;
}

/** The access data of a provider; an absent field means the provider's default. */
export interface ProviderAccess {
  readonly apiKey?: string;
  /** All keys if there are several, including `apiKey`. */
  readonly apiKeys?: readonly string[];
  /** The file of the keys, which is reloaded when it changes. */
  readonly apiKeyFile?: string;
  readonly baseUrl?: string;
  /** API version of Azure: `v1`, or a date. */
  readonly apiVersion?: string;
}

/**
 * One entry of `OUTGOING_ALLOW`: a name (`*.` before it matches any further labels) or an address range, on one port or
 * on all.
 */
export type OutgoingTarget =
  | { readonly kind: 'name'; readonly name: string; readonly port?: number }
  | { readonly kind: 'range'; readonly address: string; readonly prefix: number; readonly port?: number };

/** A model; without `model` the provider's default. */
export interface ModelChoice {
  readonly provider: string;
  readonly model?: string;
}

/** Prices per million tokens, in any unit that is the same for all models. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Price of input tokens from the provider's cache; by default as `input`. */
  readonly cachedInput?: number;
}

/** Upper limits of a budget; an absent field is unlimited. */
export interface BudgetLimit {
  readonly tokens?: number;
  /** In the unit of the prices. */
  readonly cost?: number;
}

/** The resilience settings of model calls. Times are ms. */
export interface ModelResilience {
  /** Longest silence between two parts of a reply. */
  readonly idleTimeoutMs?: number;
  /** 0 means no limit. */
  readonly totalTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** Concurrent calls of this process to one provider; 0 means no limit. */
  readonly concurrency: number;
  readonly queueLimit: number;
  readonly breaker: { readonly failures: number; readonly resetMs: number };
  readonly retry: { readonly maxAttempts: number; readonly baseDelayMs: number; readonly maxDelayMs: number };
  /** Fallback models, in this order. */
  readonly fallback: readonly ModelChoice[];
}

export interface AppConfigValues {
  readonly http: { readonly port: number; readonly host: string };
  readonly dataDir: string;
  /** Without `url`, the SQLite file `jackdaw.db` in `dataDir`. */
  readonly database: { readonly kind: DatabaseKind; readonly url?: string };
  /** Location of the queue and the bus, if not the journal's database. */
  readonly redis: { readonly url?: string };
  readonly auth: { readonly apiKeys: readonly ApiKeyEntry[] };
  readonly log: { readonly level: LogLevel };
  readonly llm: {
    readonly provider: string;
    readonly model?: string;
    readonly protocol: LlmProtocol;
    readonly timeoutMs: number;
    /** Parameters of the default agent. */
    readonly parameters: {
      readonly temperature?: number;
      readonly maxTokens?: number;
      readonly topP?: number;
      readonly frequencyPenalty?: number;
      readonly presencePenalty?: number;
      readonly stop?: readonly string[];
      readonly seed?: number;
    };
    /** Overrides of the detected capabilities of the default agent's model. */
    readonly capabilities?: CapabilityChanges;
    readonly unsupportedParameters: (typeof UNSUPPORTED_PARAMETERS)[number];
    /** A model of the same provider; without it there are no embeddings. */
    readonly embeddingModel?: string;
    readonly tokenCounting: TokenCounting;
    readonly resilience: ModelResilience;
    /** By `provider:model`, or by the model's name alone. */
    readonly prices: Readonly<Record<string, ModelPrice>>;
    /**
     * Patterns of `provider:model` that requests may name. Absent: all models. With a cost budget a model also needs a
     * price.
     */
    readonly requestModels?: readonly string[];
    /** Budgets; a call that would exceed one is rejected. Days are UTC. */
    readonly budget: {
      readonly run?: BudgetLimit;
      readonly session?: BudgetLimit;
      readonly tenantDay?: BudgetLimit;
      readonly day?: BudgetLimit;
      /** Reserved tokens for a reply without a limit. */
      readonly replyTokens: number;
    };
    /** The first key signs every request to a provider; without a key requests are unsigned. */
    readonly signingKeys: readonly EncryptionKey[];
    /** By provider, so that an agent may use another provider than the default agent. */
    readonly access: Readonly<Record<string, ProviderAccess>>;
  };
  readonly agent: {
    readonly name: string;
    readonly instructions?: string;
    readonly maxIterations: number;
    readonly runTimeoutMs: number;
    readonly maxResultBytes: number;
    readonly maxDepth: number;
    readonly maxImageBytes: number;
    readonly memory: {
      readonly enabled: boolean;
      readonly policy: string;
      readonly maxMessages?: number;
      /** Absent: derived from the model's context window. */
      readonly maxContextTokens?: number;
      readonly includeToolCalls: boolean;
      readonly keepFirst: number;
    };
  };
  /** The folder of agent files, if configured, and the variables that they may insert, by name. */
  readonly agentFiles: { readonly dir?: string; readonly variables: Readonly<Record<string, string>> };
  /** The folder of workflow files, if configured. */
  readonly workflows: { readonly dir?: string };
  /** The files that declare tools, and the secrets that they may name, by variable name. */
  readonly tools: { readonly restFiles: readonly string[]; readonly secrets: Readonly<Record<string, string>> };
  /** Defaults of tool state; a tool may override them. */
  readonly toolState: ToolStateConfig;
  readonly mcp: McpClientConfig;
  /** Non-public targets that tools may call, and the only permitted ports; an empty list permits all ports. */
  readonly outgoing: { readonly allow: readonly OutgoingTarget[]; readonly ports: readonly number[] };
  /** The cache of model replies: its location, lifetime and size in memory. */
  readonly cache: { readonly kind: 'off' | 'memory' | 'redis'; readonly ttlSeconds: number; readonly maxBytes: number };
  /** Whether agents have the tools of the long-term memory. */
  readonly longTermMemory: { readonly isEnabled: boolean };
  /**
   * Limits of running runs (`concurrency`: per process), queued runs and run starts. 0 means no limit, except for
   * `concurrency` and `queueLimit`.
   */
  readonly run: {
    readonly concurrency: number;
    readonly tenantConcurrency: number;
    readonly agentConcurrency: number;
    readonly queueLimit: number;
    readonly tenantQueueLimit: number;
    readonly tenantRatePerMinute: number;
    /** The handling of a chat in a session with an open run. */
    readonly sessionBusy: 'queue' | 'reject';
  };
  /** Whether several processes share the database, and the time after which a silent one counts as dead. */
  readonly cluster: { readonly isEnabled: boolean; readonly leaseMs: number; readonly checkMs: number };
  /** The store of sessions' turns, and their lifetime after the last turn; 0 means no limit. */
  readonly session: { readonly store: SessionStoreChoice; readonly ttlSeconds: number };
  /** Retention of run journals, by the run's final status, and of usage; 0 means no limit. */
  readonly retention: { readonly completedDays: number; readonly failedDays: number; readonly usageDays: number };
  /** Encryption of user content at rest: the first key encrypts, all decrypt. `isStrict` rejects unencrypted rows. */
  readonly encryption: { readonly keys: readonly EncryptionKey[]; readonly isStrict: boolean };
  /** Whether reads are recorded in the access log, and its retention; 0 means no limit. */
  readonly accessLog: { readonly isEnabled: boolean; readonly keptDays: number };
  /** The file of the security policy for agents. */
  readonly security: { readonly policyFile?: string };
  /** The MCP server: allowed page origins, sessions of older clients, and the key of the stdio transport. */
  readonly mcpServer: {
    readonly isEnabled: boolean;
    readonly allowedOrigins: readonly string[];
    readonly maxSessions: number;
    readonly sessionIdleMs: number;
    readonly apiKey?: string;
  };
  readonly docs: { readonly enabled: boolean };
  /** Longest shutdown, in ms; unfinished runs are then handed over to the next start. */
  readonly shutdownTimeoutMs: number;
}

/** The configuration of one application: type and injection token, deeply frozen. */
export class AppConfig implements AppConfigValues {
  readonly http!: AppConfigValues['http'];
  readonly dataDir!: string;
  readonly database!: AppConfigValues['database'];
  readonly redis!: AppConfigValues['redis'];
  readonly auth!: AppConfigValues['auth'];
  readonly log!: AppConfigValues['log'];
  readonly llm!: AppConfigValues['llm'];
  readonly agent!: AppConfigValues['agent'];
  readonly agentFiles!: AppConfigValues['agentFiles'];
  readonly workflows!: AppConfigValues['workflows'];
  readonly tools!: AppConfigValues['tools'];
  readonly toolState!: AppConfigValues['toolState'];
  readonly mcp!: AppConfigValues['mcp'];
  readonly outgoing!: AppConfigValues['outgoing'];
  readonly cache!: AppConfigValues['cache'];
  readonly longTermMemory!: AppConfigValues['longTermMemory'];
  readonly run!: AppConfigValues['run'];
  readonly cluster!: AppConfigValues['cluster'];
  readonly session!: AppConfigValues['session'];
  readonly retention!: AppConfigValues['retention'];
  readonly encryption!: AppConfigValues['encryption'];
  readonly accessLog!: AppConfigValues['accessLog'];
  readonly security!: AppConfigValues['security'];
  readonly mcpServer!: AppConfigValues['mcpServer'];
  readonly docs!: AppConfigValues['docs'];
  readonly shutdownTimeoutMs!: number;

  constructor(values: AppConfigValues) {
    Object.assign(this, structuredClone({ ...values }));
    deepFreeze(this);
  }

  /** A copy with some values replaced. */
  with(changes: Partial<AppConfigValues>): AppConfig {
    return new AppConfig(Object.assign(Object.create(null) as AppConfigValues, this, changes));
  }
}

function deepFreeze(value: object): void {
  Object.freeze(value);
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && child !== null) deepFreeze(child);
  }
}
