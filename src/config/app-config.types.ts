import type { McpClientConfig } from './mcp-config.types.js';
import type { ToolStateConfig } from './tool-state-config.types.js';

/** The providers that have variables of their own; an application may have further ones. */
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

/** What a model may be able to do, by the names of `ModelCapabilities`. */
export const CAPABILITIES = ['vision', 'imageUrls', 'functionCalling', 'jsonMode', 'forcedToolChoice'] as const;
export type CapabilityChanges = Readonly<Partial<Record<(typeof CAPABILITIES)[number], boolean>>>;

/** What becomes of a parameter that a model does not take. */
export const UNSUPPORTED_PARAMETERS = ['refuse', 'drop'] as const;

export const TOKEN_COUNTINGS = ['auto', 'estimate'] as const;
export type TokenCounting = (typeof TOKEN_COUNTINGS)[number];

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type DatabaseKind = 'sqlite' | 'postgres' | 'mariadb';

/** Where sessions' turns are kept; `own` is the journal's database. */
export type SessionStoreChoice =
  { readonly kind: 'own' | 'memory' | 'file' } | { readonly kind: 'redis' | 'database'; readonly url: string };

/** One entry of `API_KEYS`: whose key it is, and the hash it is known by. */
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

/** How a provider is reached; what is left out is the provider's default. */
export interface ProviderAccess {
  readonly apiKey?: string;
  /** Where there are several, `apiKey` among them. */
  readonly apiKeys?: readonly string[];
  /** Where they come from, when they may change. */
  readonly apiKeyFile?: string;
  readonly baseUrl?: string;
  /** Of Azure's API: `v1`, or a date. */
  readonly apiVersion?: string;
}

/**
 * One entry of `OUTGOING_ALLOW`: a name (`*.` before it stands for any further labels) or a range of addresses, on one
 * port or on all.
 */
export type OutgoingTarget =
  | { readonly kind: 'name'; readonly name: string; readonly port?: number }
  | { readonly kind: 'range'; readonly address: string; readonly prefix: number; readonly port?: number };

/** A model, of a provider's default when left out. */
export interface ModelChoice {
  readonly provider: string;
  readonly model?: string;
}

/** What a million tokens cost, in any unit as long as it is the same one everywhere. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Of the input, what the provider had read before; by default it costs as much as the rest. */
  readonly cachedInput?: number;
}

/** The most that may be used; what is left out is not limited. */
export interface BudgetLimit {
  readonly tokens?: number;
  /** In the unit of the prices. */
  readonly cost?: number;
}

/** What is done when a model does not answer. Times are ms. */
export interface ModelResilience {
  /** Between two pieces of a reply. */
  readonly idleTimeoutMs?: number;
  /** 0 is no limit. */
  readonly totalTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** Calls of this process to one provider at once; 0 is no limit. */
  readonly concurrency: number;
  readonly queueLimit: number;
  readonly breaker: { readonly failures: number; readonly resetMs: number };
  readonly retry: { readonly maxAttempts: number; readonly baseDelayMs: number; readonly maxDelayMs: number };
  /** Asked in this order. */
  readonly fallback: readonly ModelChoice[];
}

export interface AppConfigValues {
  readonly http: { readonly port: number; readonly host: string };
  readonly dataDir: string;
  /** Without `url` it is the SQLite file `jackdaw.db` in `dataDir`. */
  readonly database: { readonly kind: DatabaseKind; readonly url?: string };
  /** Where queue and bus are, if not beside the journal. */
  readonly redis: { readonly url?: string };
  readonly auth: { readonly apiKeys: readonly ApiKeyEntry[] };
  readonly log: { readonly level: LogLevel };
  readonly llm: {
    readonly provider: string;
    readonly model?: string;
    readonly protocol: LlmProtocol;
    readonly timeoutMs: number;
    /** Of the default agent. */
    readonly parameters: {
      readonly temperature?: number;
      readonly maxTokens?: number;
      readonly topP?: number;
      readonly frequencyPenalty?: number;
      readonly presencePenalty?: number;
      readonly stop?: readonly string[];
      readonly seed?: number;
    };
    /** Of the default agent's model, where somebody knows better what it can do. */
    readonly capabilities?: CapabilityChanges;
    readonly unsupportedParameters: (typeof UNSUPPORTED_PARAMETERS)[number];
    /** Of the same provider; without one there are no embeddings. */
    readonly embeddingModel?: string;
    readonly tokenCounting: TokenCounting;
    readonly resilience: ModelResilience;
    /** By `provider:model`, or the model's name alone. */
    readonly prices: Readonly<Record<string, ModelPrice>>;
    /** Which models requests may name, as patterns of `provider:model`; without it all, but with budgets of costs those with a price. */
    readonly requestModels?: readonly string[];
    /** Beyond which no model is asked. Days are UTC's. */
    readonly budget: {
      readonly run?: BudgetLimit;
      readonly session?: BudgetLimit;
      readonly tenantDay?: BudgetLimit;
      readonly day?: BudgetLimit;
      /** What a reply is taken to be that no parameter limits. */
      readonly replyTokens: number;
    };
    /** The first signs every request to a provider; without one none is signed. */
    readonly signingKeys: readonly EncryptionKey[];
    /** Of every provider, so that an agent may use another one than the default agent. */
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
      /** As the model's context window allows, when left out. */
      readonly maxContextTokens?: number;
      readonly includeToolCalls: boolean;
      readonly keepFirst: number;
    };
  };
  /** The folder of agents' files, where one is named, and the values of the variables that these may name, by their names. */
  readonly agentFiles: { readonly dir?: string; readonly variables: Readonly<Record<string, string>> };
  /** The folder of workflows' files, where one is named. */
  readonly workflows: { readonly dir?: string };
  /** The files that declare tools, and the values of the variables that these may name, by their names. */
  readonly tools: { readonly restFiles: readonly string[]; readonly secrets: Readonly<Record<string, string>> };
  /** How tools keep state, where they do not say it themselves. */
  readonly toolState: ToolStateConfig;
  readonly mcp: McpClientConfig;
  /** Where tools may call though it is not public, and the only ports they may call; no ports are all. */
  readonly outgoing: { readonly allow: readonly OutgoingTarget[]; readonly ports: readonly number[] };
  /** Where replies are kept that can be given again, for how long, and how much of it in memory. */
  readonly cache: { readonly kind: 'off' | 'memory' | 'redis'; readonly ttlSeconds: number; readonly maxBytes: number };
  /** Whether agents have the tools of the long-term memory. */
  readonly longTermMemory: { readonly isEnabled: boolean };
  /** How many runs go on (`concurrency`: in one process), wait, and may begin; of all but the first and `queueLimit`, 0 is no limit. */
  readonly run: {
    readonly concurrency: number;
    readonly tenantConcurrency: number;
    readonly agentConcurrency: number;
    readonly queueLimit: number;
    readonly tenantQueueLimit: number;
    readonly tenantRatePerMinute: number;
    /** What becomes of a chat whose session has an open run. */
    readonly sessionBusy: 'queue' | 'reject';
  };
  /** Whether several processes share the database, and how soon one that is silent counts as dead. */
  readonly cluster: { readonly isEnabled: boolean; readonly leaseMs: number; readonly checkMs: number };
  /** Where sessions' turns are kept, and for how long after the last one; 0 is for ever. */
  readonly session: { readonly store: SessionStoreChoice; readonly ttlSeconds: number };
  /** How long journals of runs are kept, by how they ended; 0 is for ever. */
  readonly retention: { readonly completedDays: number; readonly failedDays: number; readonly usageDays: number };
  /** With keys (the first seals, all open) what users say is encrypted at rest; `isStrict` refuses what is not. */
  readonly encryption: { readonly keys: readonly EncryptionKey[]; readonly isStrict: boolean };
  /** Whether it is recorded who reads what, and how long that is kept; 0 is for ever. */
  readonly accessLog: { readonly isEnabled: boolean; readonly keptDays: number };
  /** What agents may do, as a file says. */
  readonly security: { readonly policyFile?: string };
  /** What MCP clients are served: origins of pages that may call, sessions of older clients, and whose rights stdio has. */
  readonly mcpServer: {
    readonly isEnabled: boolean;
    readonly allowedOrigins: readonly string[];
    readonly maxSessions: number;
    readonly sessionIdleMs: number;
    readonly apiKey?: string;
  };
  readonly docs: { readonly enabled: boolean };
  /** How long a stop may take, in ms, before unfinished runs are left to the journal. */
  readonly shutdownTimeoutMs: number;
}

/** The configuration of one application: type and injection token in one, frozen all the way down. */
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

  /** The same with other values in some places. */
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
