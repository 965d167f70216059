import { choice, decimal, integer, pattern } from '../env-value.schema.js';
import { budget } from '../budget.parser.js';
import { encryptionKeys } from '../encryption-key.parser.js';
import {
  capabilities,
  LLM_PROVIDERS,
  modelList,
  modelPatterns,
  QUIRK_PARAMETERS,
  quirks,
  stops,
} from '../model-option.parser.js';
import { cassetteMode, isReplay } from '../build.policy.js';
import { compact, namespace, type NamespaceConfig, type ValuesOf } from '../namespace.factory.js';
import { EFFORTS, LIST_PRICES, type ModelPatterns, type ModelPrice, prices } from '../models-file.loader.js';
import { chosenProvider, type ProviderAccess, providerAccess } from '../provider.policy.js';
import { proxyOf, securityConfig } from './security.config.js';
import { PROVIDER_VARIABLES } from '../provider-variable.schema.js';

/** The key of a provider without one in a replay, which sends no requests. */
const REPLAY_KEY = 'no-key-in-a-replay';
const HOUR_MS = 3_600_000;

const MODEL_VARIABLES = {
  ...PROVIDER_VARIABLES,
  LLM_PROTOCOL: choice(['auto', 'native', 'react', 'xml'])
    .default('auto')
    .describe(
      'Format of tools for the model: `native` function calling, `react` or `xml` text; `auto` is native if the model supports it, else react',
    ),
  LLM_OPENAI_API: choice(['auto', 'responses', 'chat'])
    .default('auto')
    .describe(
      'API of providers with OpenAI’s formats: `auto` is the Responses API for openai and Chat Completions for the others; `responses` is the Responses API also for azure and openai-compatible, `chat` Chat Completions for all. An address without the Responses API gets Chat Completions',
    ),
  LLM_TIMEOUT_MS: integer(1, HOUR_MS, 'ms')
    .default(30_000)
    .describe('Longest silence of the model, in ms: until the reply starts, then between two parts of it'),
  LLM_IDLE_TIMEOUT_MS: integer(1, HOUR_MS, 'ms')
    .optional()
    .describe('Longest silence between two parts of a reply, in ms; by default as `LLM_TIMEOUT_MS`'),
  LLM_TOTAL_TIMEOUT_MS: integer(0, 24 * HOUR_MS, 'ms')
    .default(0)
    .describe('Time limit of a whole model call, in ms; 0 means only the run’s limit'),
  LLM_STREAM_INTERVAL_MS: integer(0, 1000, 'ms')
    .default(0)
    .describe(
      'Minimum time between two parts of a streamed reply, in ms: text that arrives meanwhile is one event. 50 needs less than half of the CPU of a stream with 50 parts a second; 0 passes each part on at once',
    ),
  LLM_CONNECT_TIMEOUT_MS: integer(1, HOUR_MS, 'ms')
    .default(10_000)
    .describe('Time limit of a connection to a provider, TLS included, in ms; checked about once per second'),
  LLM_MAX_ATTEMPTS: integer(1, 20)
    .default(3)
    .describe('Maximum attempts of a model call after transient failures; 1 disables retries'),
  LLM_RETRY_DELAY_MS: integer(0, 60_000, 'ms')
    .default(500)
    .describe(
      'Maximum delay before the second attempt, in ms; it doubles with each further one, with random jitter. A provider’s `Retry-After` takes precedence, with up to 25 % more',
    ),
  LLM_RETRY_MAX_WAIT_MS: integer(0, HOUR_MS, 'ms')
    .default(10_000)
    .describe('Longest wait for the next attempt, in ms: a call whose provider asks for more fails at once'),
  LLM_BREAKER_FAILURES: integer(0, 1000)
    .default(5)
    .describe(
      'Consecutive time-outs, refused connections or replies 502 to 504 that open the circuit breaker of a model with a fallback; 0 disables circuit breakers. Without a fallback it opens when 60 % of at least 20 requests within 10 s failed',
    ),
  LLM_BREAKER_RESET_MS: integer(1, HOUR_MS, 'ms')
    .default(15_000)
    .describe(
      'Longest pause of an open circuit breaker, in ms. The first pause is 0.5 s, and doubles; without a fallback one request a second is permitted meanwhile',
    ),
  LLM_CONCURRENCY: integer(0, 100_000)
    .default(0)
    .describe('Maximum concurrent calls of a process to one provider; 0 means no limit'),
  LLM_QUEUE_LIMIT: integer(0, 1_000_000).default(1000).describe('With `LLM_CONCURRENCY`: maximum queued calls'),
  LLM_SIGNING_KEYS: encryptionKeys().optional().meta({
    isSecret: true,
    description:
      'Signing keys for gateways that authenticate requests: comma-separated `id:key` entries, a key is 32 bytes in base64. The first signs every request to a provider (RFC 9421, HMAC-SHA256); the others prepare a key rotation',
  }),
  LLM_FALLBACK: modelList()
    .optional()
    .describe(
      'Fallback models for failed model calls, in order: comma-separated `provider:model`, such as `deepseek:deepseek-chat,ollama:qwen3`',
    ),
  LLM_REQUEST_MODELS: modelPatterns()
    .optional()
    .describe(
      'Models that a request may name besides the agent’s own: comma-separated `provider:model` with `*` for any characters, such as `openai:gpt-5*,ollama:*`; `*` means all, `none` no other. By default all. With a `cost` budget only models with a price',
    ),
  LLM_MODELS_FILE: pattern(/^[^~]/, 'a path without ~, which only a shell expands')
    .optional()
    .describe(
      'File of facts about models that override the built-in tables: context window, capabilities, effort, price (docs/providers.md); by default `config/models.json`, if it exists',
    ),
  LLM_CASSETTE: pattern(/^[^~]/, 'a path without ~, which only a shell expands')
    .optional()
    .describe('File of recorded model calls that answers the calls of all agents, for tests (docs/testing.md)'),
  LLM_CASSETTE_MODE: choice(['auto', 'replay', 'record'])
    .default('auto')
    .describe(
      'With `LLM_CASSETTE`: `replay` never calls a model and needs no key, `record` always does and replaces the file, `auto` records new requests. With the variable `CI` always `replay`',
    ),
  LLM_CASSETTE_TOOLS: choice(['real', 'recorded'])
    .default('real')
    .describe('With `LLM_CASSETTE`: `recorded` also records the results of tools, and a replay calls no tool'),
  LLM_PRICES: prices()
    .optional()
    .describe(
      'Model prices, for the `cost` of runs: JSON, or the path of a JSON file, of prices per million tokens by `provider:model` or model, such as `{"openai:gpt-5-mini": {"input": 0.25, "output": 2, "cachedInput": 0.025}}`; in any unit, the same for all. `list` takes the list prices of the model tables, in US dollars. `cacheWrite` is the price of tokens written to the provider’s cache',
    ),
  BUDGET_RUN: budget()
    .optional()
    .describe(
      'Budget of the model calls of one run: `tokens=100000`, `cost=0.5` (in the unit of `LLM_PRICES`), or both, comma-separated. A call that may exceed it is rejected with 429 `BUDGET_EXCEEDED`',
    ),
  BUDGET_SESSION: budget().optional().describe('Same for all runs of a session'),
  BUDGET_TENANT_DAY: budget().optional().describe('Same for all runs of a tenant per day (UTC)'),
  BUDGET_DAY: budget().optional().describe('Same for all runs of all tenants per day (UTC)'),
  BUDGET_REPLY_TOKENS: integer(1, 10_000_000, 'tokens')
    .default(1024)
    .describe(
      'Tokens that a budget reserves for a reply without `maxTokens`; a longer one reserves more while it arrives',
    ),
  LLM_TEMPERATURE: decimal(0, 2)
    .optional()
    .describe('Sampling temperature, 0 to 2; by default 0.7 if the model supports it and `LLM_TOP_P` is not set'),
  LLM_MAX_TOKENS: integer(1, 10_000_000, 'tokens')
    .optional()
    .describe("Maximum reply length, in tokens; by default the model's"),
  LLM_TOP_P: decimal(0, 1).optional().describe("Nucleus sampling probability mass, 0 to 1; by default the provider's"),
  LLM_FREQUENCY_PENALTY: decimal(-2, 2).optional().describe("Frequency penalty, -2 to 2; by default the provider's"),
  LLM_PRESENCE_PENALTY: decimal(-2, 2).optional().describe("Presence penalty, -2 to 2; by default the provider's"),
  LLM_STOP: stops().optional().describe('Stop sequence that ends a reply, or a JSON array of stop sequences'),
  LLM_SEED: integer(-2_147_483_648, 2_147_483_647)
    .optional()
    .describe('Sampling seed for reproducible replies, as far as the provider supports it'),
  LLM_EFFORT: choice(EFFORTS)
    .optional()
    .describe(
      'Reasoning effort: `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`, mapped to the nearest level of the model; by default the provider’s',
    ),
  LLM_UNSUPPORTED_PARAMETERS: choice(['refuse', 'drop'])
    .default('refuse')
    .describe(
      'Handling of a parameter that the model does not support: `refuse` fails the start or rejects the request with 400, `drop` omits it and warns once, also if the provider refuses it',
    ),
  LLM_QUIRKS: quirks()
    .optional()
    .describe(
      'Parameters that are set but may be omitted if the provider refuses them (HTTP 400 or 422): `drop:` with `temperature`, `maxTokens`, `topP`, `frequencyPenalty`, `presencePenalty`, `stop`, `seed` or `effort`, comma-separated, such as `drop:temperature,drop:seed`; without it such a request fails',
    ),
  LLM_CAPABILITIES: capabilities()
    .optional()
    .describe(
      'Capabilities of `LLM_MODEL` that Jackdaw does not know: some of `vision`, `imageUrls`, `audio`, `functionCalling`, `jsonMode` and `forcedToolChoice`, comma-separated, with ! before an unsupported one',
    ),
  TOKEN_COUNTING: choice(['auto', 'estimate'])
    .default('auto')
    .describe(
      'Token counting: `auto` uses the vocabulary of an OpenAI model (about 40 MB of memory once loaded) and estimates for others, at most a tenth too low; `estimate` always estimates',
    ),
  EMBEDDING_MODEL: pattern(/^\S{1,200}$/, 'the name of a model, 1 to 200 characters without spaces')
    .optional()
    .describe("The provider's embedding model; with it facts are recalled by meaning too, without it by words only"),
};
type ModelValues = ValuesOf<typeof MODEL_VARIABLES>;

/** Models: selection, access, resilience, parameters, prices and budgets. */
export const llmConfig = namespace(
  'jackdaw.llm',
  'Models',
  MODEL_VARIABLES,
  (env, { models }) => {
    const provider = chosenProvider(env);
    return {
      provider,
      protocol: env.LLM_PROTOCOL,
      openAiApi: env.LLM_OPENAI_API,
      timeoutMs: env.LLM_TIMEOUT_MS,
      tokenCounting: env.TOKEN_COUNTING,
      unsupportedParameters: env.LLM_UNSUPPORTED_PARAMETERS,
      /** Parameters of the default agent. */
      parameters: compact({
        temperature: env.LLM_TEMPERATURE,
        maxTokens: env.LLM_MAX_TOKENS,
        topP: env.LLM_TOP_P,
        frequencyPenalty: env.LLM_FREQUENCY_PENALTY,
        presencePenalty: env.LLM_PRESENCE_PENALTY,
        stop: env.LLM_STOP,
        seed: env.LLM_SEED,
        effort: env.LLM_EFFORT,
      }),
      resilience: resilienceOf(env),
      ...pricesOf(env, models),
      /** Facts of `LLM_MODELS_FILE`, by patterns of `provider:model` or the model's name. */
      models,
      budget: {
        replyTokens: env.BUDGET_REPLY_TOKENS,
        ...compact({
          run: env.BUDGET_RUN,
          session: env.BUDGET_SESSION,
          tenantDay: env.BUDGET_TENANT_DAY,
          day: env.BUDGET_DAY,
        }),
      },
      signingKeys: env.LLM_SIGNING_KEYS ?? [],
      ...compact({
        proxy: proxyOf(env),
        model: env.LLM_MODEL,
        /** Parameters that requests may omit if the provider refuses them, although they are set. */
        droppable: env.LLM_UNSUPPORTED_PARAMETERS === 'drop' ? QUIRK_PARAMETERS : env.LLM_QUIRKS,
        /** Overrides of the detected capabilities of the default agent's model. */
        capabilities: env.LLM_CAPABILITIES,
        embeddingModel: env.EMBEDDING_MODEL,
        requestModels: env.LLM_REQUEST_MODELS,
        /** Recorded calls of models. */
        cassette: cassetteOf(env),
      }),
      /** By provider, so that an agent may use another provider than the default agent. */
      access: Object.fromEntries([...LLM_PROVIDERS, provider].map((one) => [one, accessOf(one, env)])),
    };
  },
  securityConfig,
);
export type LlmConfig = NamespaceConfig<typeof llmConfig>;

/** The prices of exact names in the file of models, and those of `LLM_PRICES`, which take precedence. */
function pricesOf({ LLM_PRICES: given }: ModelValues, models: ModelPatterns) {
  const priced = Object.entries(models).flatMap(([name, facts]) => (facts.price ? [[name, facts.price] as const] : []));
  const known: Readonly<Record<string, ModelPrice>> = {
    ...Object.fromEntries(priced),
    ...(given !== LIST_PRICES && given),
  };
  return {
    /** By `provider:model`, or by the model's name alone. */
    prices: known,
    /** Whether the list prices of the model tables apply to models without one above. */
    hasListPrices: given === LIST_PRICES,
  };
}

function cassetteOf({ LLM_CASSETTE: file, LLM_CASSETTE_MODE: mode, LLM_CASSETTE_TOOLS: tools }: ModelValues) {
  return file === undefined ? undefined : { file, mode: cassetteMode(mode), tools };
}

function accessOf(provider: string, env: ModelValues): ProviderAccess {
  const access = providerAccess(provider, env);
  return isReplay(env) ? { ...access, apiKey: access.apiKey ?? REPLAY_KEY } : access;
}

/** Times are ms; a limit of 0 means none. */
function resilienceOf(env: ModelValues) {
  return {
    ...compact({ idleTimeoutMs: env.LLM_IDLE_TIMEOUT_MS }),
    totalTimeoutMs: env.LLM_TOTAL_TIMEOUT_MS,
    streamIntervalMs: env.LLM_STREAM_INTERVAL_MS,
    connectTimeoutMs: env.LLM_CONNECT_TIMEOUT_MS,
    concurrency: env.LLM_CONCURRENCY,
    queueLimit: env.LLM_QUEUE_LIMIT,
    breaker: { failures: env.LLM_BREAKER_FAILURES, maxPauseMs: env.LLM_BREAKER_RESET_MS },
    retry: {
      maxAttempts: env.LLM_MAX_ATTEMPTS,
      baseDelayMs: env.LLM_RETRY_DELAY_MS,
      maxDelayMs: env.LLM_RETRY_MAX_WAIT_MS,
    },
    fallback: env.LLM_FALLBACK ?? [],
  };
}
