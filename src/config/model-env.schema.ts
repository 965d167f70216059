import { z } from 'zod';
import { LLM_PROTOCOLS, LLM_PROVIDERS, TOKEN_COUNTINGS, UNSUPPORTED_PARAMETERS } from './app-config.types.js';
import { baseUrl, choice, decimal, integer, keyList, modelList, pattern } from './env-value.schema.js';
import { budget } from './budget.parser.js';
import { encryptionKeys } from './encryption-key.parser.js';
import { capabilities, modelPatterns, stops } from './model-option.parser.js';
import { prices } from './price.parser.js';

const HOUR_MS = 3_600_000;
const secret = { isSecret: true };

/** The variables of models: selection, access and resilience. */
export const MODEL_VARIABLES = {
  LLM_PROVIDER: pattern(/^[a-z\d][a-z\d-]{0,63}$/, `one of ${LLM_PROVIDERS.join(', ')}, or one of your own`)
    .optional()
    .describe(
      `One of ${LLM_PROVIDERS.join(', ')}, or one of your own (docs/providers.md). By default openai-compatible if LLM_BASE_URL is set, else the first provider with a key (ollama: with a URL), else offline`,
    ),
  LLM_MODEL: z.string().optional().describe("Model name (with azure the deployment's); by default the provider's"),
  LLM_PROTOCOL: choice(LLM_PROTOCOLS)
    .default('auto')
    .describe(
      'Format of tools for the model: `native` function calling, `react` or `xml` text; `auto` is native if the model supports it, else react',
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
  LLM_CONNECT_TIMEOUT_MS: integer(1, HOUR_MS, 'ms')
    .default(10_000)
    .describe('Time limit of a connection to a provider, TLS included, in ms; checked about once per second'),
  LLM_MAX_ATTEMPTS: integer(1, 20)
    .default(3)
    .describe('Maximum attempts of a model call after transient failures; 1 disables retries'),
  LLM_RETRY_DELAY_MS: integer(0, 60_000, 'ms')
    .default(500)
    .describe(
      'Maximum delay before the second attempt, in ms; it doubles with each further one, with random jitter. A provider’s `Retry-After` takes precedence; 60 s at most',
    ),
  LLM_BREAKER_FAILURES: integer(0, 1000)
    .default(5)
    .describe('Consecutive failures that open the circuit breaker of a model; 0 disables it'),
  LLM_BREAKER_RESET_MS: integer(1, HOUR_MS, 'ms')
    .default(30_000)
    .describe('Time after which an open circuit breaker permits one trial call, in ms'),
  LLM_CONCURRENCY: integer(0, 100_000)
    .default(0)
    .describe('Maximum concurrent calls of a process to one provider; 0 means no limit'),
  LLM_QUEUE_LIMIT: integer(0, 1_000_000).default(1000).describe('With `LLM_CONCURRENCY`: maximum queued calls'),
  LLM_SIGNING_KEYS: encryptionKeys()
    .optional()
    .meta({
      ...secret,
      description:
        'Signing keys for gateways that authenticate requests: comma-separated `id:key` entries, a key is 32 bytes in base64. The first signs every request to a provider (RFC 9421, HMAC-SHA256); the others prepare a key rotation',
    }),
  LLM_CACHE: choice(['off', 'memory', 'redis'])
    .default('off')
    .describe('Cache of replies to requests at temperature 0: `off`, `memory`, or `redis` (at `REDIS_URL`)'),
  LLM_CACHE_TTL_SECONDS: integer(1, 31_536_000, 's').default(3600).describe('Lifetime of a cached reply, in seconds'),
  LLM_CACHE_MAX_BYTES: integer(100_000, 100_000_000_000, 'bytes')
    .default(67_108_864)
    .describe('With `memory`: maximum bytes of all cached replies; the least recently used are evicted first'),
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
  LLM_PRICES: prices()
    .optional()
    .describe(
      'Model prices, for the `cost` of runs: JSON, or the path of a JSON file, of prices per million tokens by `provider:model` or model, such as `{"openai:gpt-5-mini": {"input": 0.25, "output": 2, "cachedInput": 0.025}}`; in any unit, the same for all',
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
  LLM_UNSUPPORTED_PARAMETERS: choice(UNSUPPORTED_PARAMETERS)
    .default('refuse')
    .describe(
      'Handling of a parameter that the model does not support: `refuse` fails the start or rejects the request with 400, `drop` omits it and warns once',
    ),
  LLM_CAPABILITIES: capabilities()
    .optional()
    .describe(
      'Capabilities of `LLM_MODEL` that Jackdaw does not know: some of `vision`, `imageUrls`, `functionCalling`, `jsonMode` and `forcedToolChoice`, comma-separated, with ! before an unsupported one',
    ),
  TOKEN_COUNTING: choice(TOKEN_COUNTINGS)
    .default('auto')
    .describe(
      'Token counting: `auto` uses the vocabulary of an OpenAI model (about 40 MB of memory once loaded) and estimates for others, at most a tenth too low; `estimate` always estimates',
    ),
  LLM_API_KEY: z
    .string()
    .optional()
    .meta({ ...secret, description: 'Key for the chosen provider, if its own variable is not set' }),
  LLM_API_KEYS: keyList()
    .optional()
    .meta({
      ...secret,
      description:
        'Several keys for the chosen provider, comma-separated; if one is rate-limited or rejected, the next is used',
    }),
  LLM_API_KEY_FILE: z
    .string()
    .optional()
    .describe('File with keys for the chosen provider, one per line; reloaded when it changes'),
  LLM_BASE_URL: baseUrl()
    .optional()
    .describe(
      'API base URL for the chosen provider, if its own variable is not set; only `LLM_API_KEY` is sent there, never a provider’s own key',
    ),
  OPENAI_API_KEY: z
    .string()
    .optional()
    .meta({ ...secret, description: 'Key for openai' }),
  OPENAI_API_KEYS: keyList()
    .optional()
    .meta({
      ...secret,
      description: 'Several keys for openai, comma-separated; if one is rate-limited or rejected, the next is used',
    }),
  OPENAI_API_KEY_FILE: z
    .string()
    .optional()
    .describe('File with keys for openai, one per line; reloaded when it changes'),
  OPENAI_BASE_URL: baseUrl().optional().describe('API base URL for openai'),
  ANTHROPIC_API_KEY: z
    .string()
    .optional()
    .meta({ ...secret, description: 'Key for anthropic' }),
  ANTHROPIC_API_KEYS: keyList()
    .optional()
    .meta({
      ...secret,
      description: 'Several keys for anthropic, comma-separated; if one is rate-limited or rejected, the next is used',
    }),
  ANTHROPIC_API_KEY_FILE: z
    .string()
    .optional()
    .describe('File with keys for anthropic, one per line; reloaded when it changes'),
  ANTHROPIC_BASE_URL: baseUrl().optional().describe('API base URL for anthropic'),
  AZURE_OPENAI_API_KEY: z
    .string()
    .optional()
    .meta({ ...secret, description: 'Key for azure' }),
  AZURE_OPENAI_API_KEYS: keyList()
    .optional()
    .meta({
      ...secret,
      description: 'Several keys for azure, comma-separated; if one is rate-limited or rejected, the next is used',
    }),
  AZURE_OPENAI_API_KEY_FILE: z
    .string()
    .optional()
    .describe('File with keys for azure, one per line; reloaded when it changes'),
  AZURE_OPENAI_ENDPOINT: baseUrl()
    .optional()
    .describe('Endpoint for azure, such as `https://name.openai.azure.com`; `LLM_MODEL` is the name of a deployment'),
  AZURE_OPENAI_API_VERSION: pattern(/^(v1|\d{4}-\d{2}-\d{2}(-preview)?)$/, 'v1 or a version such as 2024-10-21')
    .default('v1')
    .describe('Version of the API of azure: `v1`, or a date such as `2024-10-21` for the API with dated versions'),
  DEEPSEEK_API_KEY: z
    .string()
    .optional()
    .meta({ ...secret, description: 'Key for deepseek' }),
  DEEPSEEK_API_KEYS: keyList()
    .optional()
    .meta({
      ...secret,
      description: 'Several keys for deepseek, comma-separated; if one is rate-limited or rejected, the next is used',
    }),
  DEEPSEEK_API_KEY_FILE: z
    .string()
    .optional()
    .describe('File with keys for deepseek, one per line; reloaded when it changes'),
  DEEPSEEK_BASE_URL: baseUrl().optional().describe('API base URL for deepseek'),
  GLM_API_KEY: z
    .string()
    .optional()
    .meta({ ...secret, description: 'Key for glm' }),
  GLM_API_KEYS: keyList()
    .optional()
    .meta({
      ...secret,
      description: 'Several keys for glm, comma-separated; if one is rate-limited or rejected, the next is used',
    }),
  GLM_API_KEY_FILE: z.string().optional().describe('File with keys for glm, one per line; reloaded when it changes'),
  GLM_BASE_URL: baseUrl().optional().describe('API base URL for glm'),
  OLLAMA_BASE_URL: baseUrl().optional().describe('API base URL for ollama'),
};
