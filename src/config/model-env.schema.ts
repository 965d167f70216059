import { z } from 'zod';
import { LLM_PROTOCOLS, LLM_PROVIDERS, TOKEN_COUNTINGS, UNSUPPORTED_PARAMETERS } from './app-config.types.js';
import { baseUrl, choice, decimal, integer, keyList, modelList, pattern } from './env-value.schema.js';
import { budget } from './budget.parser.js';
import { encryptionKeys } from './encryption-key.parser.js';
import { capabilities, modelPatterns, stops } from './model-option.parser.js';
import { prices } from './price.parser.js';

const HOUR_MS = 3_600_000;
const secret = { isSecret: true };

/** The variables of models: which one answers, how it is reached, and what becomes of it when it does not answer. */
export const MODEL_VARIABLES = {
  LLM_PROVIDER: pattern(/^[a-z\d][a-z\d-]{0,63}$/, `one of ${LLM_PROVIDERS.join(', ')}, or one of your own`)
    .optional()
    .describe(
      `One of ${LLM_PROVIDERS.join(', ')}, or one of your own (docs/providers.md). By default openai-compatible when LLM_BASE_URL is set, else the first whose key (of ollama: whose URL) is set, else offline`,
    ),
  LLM_MODEL: z.string().optional().describe("Model name (with azure the deployment's); by default the provider's"),
  LLM_PROTOCOL: choice(LLM_PROTOCOLS)
    .default('auto')
    .describe(
      'How tools are written for the model: `native` function calling, `react` or `xml` text; `auto` is native if the model can, else react',
    ),
  LLM_TIMEOUT_MS: integer(1, HOUR_MS, 'ms')
    .default(30_000)
    .describe('Longest silence of the model, in ms: until its reply begins, then between two pieces of it'),
  LLM_IDLE_TIMEOUT_MS: integer(1, HOUR_MS, 'ms')
    .optional()
    .describe('Longest silence between two pieces of a reply, in ms; by default as `LLM_TIMEOUT_MS`'),
  LLM_TOTAL_TIMEOUT_MS: integer(0, 24 * HOUR_MS, 'ms')
    .default(0)
    .describe('Longest time of one model call in all, in ms; 0 leaves it to the run’s limit'),
  LLM_CONNECT_TIMEOUT_MS: integer(1, HOUR_MS, 'ms')
    .default(10_000)
    .describe('Longest time for a connection to a provider, TLS included, in ms; it is looked at about once a second'),
  LLM_MAX_ATTEMPTS: integer(1, 20)
    .default(3)
    .describe('How often a model call is made at most when it fails in a way that may pass; 1 never tries again'),
  LLM_RETRY_DELAY_MS: integer(0, 60_000, 'ms')
    .default(500)
    .describe(
      'Longest delay before the second attempt, in ms; it doubles with each further one, and a random part of it is waited. A provider’s `Retry-After` counts instead; 60 s at most',
    ),
  LLM_BREAKER_FAILURES: integer(0, 1000)
    .default(5)
    .describe('Failures in a row after which a model is not asked for a while; 0 always asks'),
  LLM_BREAKER_RESET_MS: integer(1, HOUR_MS, 'ms')
    .default(30_000)
    .describe('After so long, in ms, one call tries whether the model answers again'),
  LLM_CONCURRENCY: integer(0, 100_000)
    .default(0)
    .describe('Most calls of one process to one provider at once; 0 is no limit'),
  LLM_QUEUE_LIMIT: integer(0, 1_000_000)
    .default(1000)
    .describe('With `LLM_CONCURRENCY`: most calls that wait for their turn'),
  LLM_SIGNING_KEYS: encryptionKeys()
    .optional()
    .meta({
      ...secret,
      description:
        'For gateways that check who asks: comma-separated `id:key` entries, a key is 32 bytes in base64. The first signs every request to a provider (RFC 9421, HMAC-SHA256); others are there so that a change of keys can be prepared',
    }),
  LLM_CACHE: choice(['off', 'memory', 'redis'])
    .default('off')
    .describe(
      'Where replies to requests at temperature 0 are kept, to be given again without asking: `off`, `memory`, or `redis` (at `REDIS_URL`)',
    ),
  LLM_CACHE_TTL_SECONDS: integer(1, 31_536_000, 's').default(3600).describe('Seconds for which such a reply is kept'),
  LLM_CACHE_MAX_BYTES: integer(100_000, 100_000_000_000, 'bytes')
    .default(67_108_864)
    .describe('With `memory`: most bytes of all such replies; those that were not asked for longest go first'),
  LLM_FALLBACK: modelList()
    .optional()
    .describe(
      'Models that are asked when the first one does not answer, in their order: comma-separated `provider:model`, such as `deepseek:deepseek-chat,ollama:qwen3`',
    ),
  LLM_REQUEST_MODELS: modelPatterns()
    .optional()
    .describe(
      'Models that a request may name beside the agent’s own: comma-separated `provider:model` with `*` for any characters, such as `openai:gpt-5*,ollama:*`; `*` is all, `none` is no other. By default all, but with a budget of `cost` those in `LLM_PRICES`',
    ),
  LLM_PRICES: prices()
    .optional()
    .describe(
      'What models cost, so that runs tell their `cost`: JSON, or the path of a JSON file, of prices per million tokens by `provider:model` or model, such as `{"openai:gpt-5-mini": {"input": 0.25, "output": 2, "cachedInput": 0.025}}`; in any unit, the same for all',
    ),
  BUDGET_RUN: budget()
    .optional()
    .describe(
      'The most that the model calls of one run may take: `tokens=100000`, `cost=0.5` (in the unit of `LLM_PRICES`), or both, comma-separated. A call that may go beyond is not made: 429 `BUDGET_EXCEEDED`',
    ),
  BUDGET_SESSION: budget().optional().describe('The same of all runs of one session'),
  BUDGET_TENANT_DAY: budget().optional().describe('The same of all runs of one tenant on one day (UTC)'),
  BUDGET_DAY: budget().optional().describe('The same of all runs of all tenants on one day (UTC)'),
  BUDGET_REPLY_TOKENS: integer(1, 10_000_000, 'tokens')
    .default(1024)
    .describe('What a budget takes a reply for, in tokens, until it is there, where no `maxTokens` limits it'),
  LLM_TEMPERATURE: decimal(0, 2)
    .optional()
    .describe('0 to 2; by default 0.7, for models that take one when `LLM_TOP_P` is not set'),
  LLM_MAX_TOKENS: integer(1, 10_000_000, 'tokens')
    .optional()
    .describe("Longest reply, in tokens; by default the model's"),
  LLM_TOP_P: decimal(0, 1).optional().describe("0 to 1; by default the provider's"),
  LLM_FREQUENCY_PENALTY: decimal(-2, 2).optional().describe("-2 to 2; by default the provider's"),
  LLM_PRESENCE_PENALTY: decimal(-2, 2).optional().describe("-2 to 2; by default the provider's"),
  LLM_STOP: stops().optional().describe('Text that ends a reply where it would come, or a JSON array of such texts'),
  LLM_SEED: integer(-2_147_483_648, 2_147_483_647)
    .optional()
    .describe('With the same seed a provider gives the same reply, as far as it can'),
  LLM_UNSUPPORTED_PARAMETERS: choice(UNSUPPORTED_PARAMETERS)
    .default('refuse')
    .describe(
      'What becomes of a parameter that the model does not take: `refuse` stops the start and answers a request with 400, `drop` leaves it out and warns once',
    ),
  LLM_CAPABILITIES: capabilities()
    .optional()
    .describe(
      'What the model of `LLM_MODEL` can do, where the provider’s folder does not know: some of `vision`, `imageUrls`, `functionCalling`, `jsonMode` and `forcedToolChoice`, comma-separated, with ! before what it cannot',
    ),
  TOKEN_COUNTING: choice(TOKEN_COUNTINGS)
    .default('auto')
    .describe(
      'How tokens are counted: `auto` takes the vocabulary of an OpenAI model (about 40 MB of memory once it is used) and estimates for others, at most a tenth too low; `estimate` always estimates',
    ),
  LLM_API_KEY: z
    .string()
    .optional()
    .meta({ ...secret, description: 'Key for the chosen provider when its own variable is not set' }),
  LLM_API_KEYS: keyList()
    .optional()
    .meta({
      ...secret,
      description:
        'Several keys for the chosen provider, comma-separated: one that is limited or refused gives way to the next',
    }),
  LLM_API_KEY_FILE: z
    .string()
    .optional()
    .describe('File with keys for the chosen provider, one a line; it is read again when it changes'),
  LLM_BASE_URL: baseUrl()
    .optional()
    .describe(
      'API base URL for the chosen provider when its own variable is not set; only `LLM_API_KEY` is sent there, never a provider’s own key',
    ),
  OPENAI_API_KEY: z
    .string()
    .optional()
    .meta({ ...secret, description: 'Key for openai' }),
  OPENAI_API_KEYS: keyList()
    .optional()
    .meta({
      ...secret,
      description: 'Several keys for openai, comma-separated: one that is limited or refused gives way to the next',
    }),
  OPENAI_API_KEY_FILE: z
    .string()
    .optional()
    .describe('File with keys for openai, one a line; it is read again when it changes'),
  OPENAI_BASE_URL: baseUrl().optional().describe('API base URL for openai'),
  ANTHROPIC_API_KEY: z
    .string()
    .optional()
    .meta({ ...secret, description: 'Key for anthropic' }),
  ANTHROPIC_API_KEYS: keyList()
    .optional()
    .meta({
      ...secret,
      description: 'Several keys for anthropic, comma-separated: one that is limited or refused gives way to the next',
    }),
  ANTHROPIC_API_KEY_FILE: z
    .string()
    .optional()
    .describe('File with keys for anthropic, one a line; it is read again when it changes'),
  ANTHROPIC_BASE_URL: baseUrl().optional().describe('API base URL for anthropic'),
  AZURE_OPENAI_API_KEY: z
    .string()
    .optional()
    .meta({ ...secret, description: 'Key for azure' }),
  AZURE_OPENAI_API_KEYS: keyList()
    .optional()
    .meta({
      ...secret,
      description: 'Several keys for azure, comma-separated: one that is limited or refused gives way to the next',
    }),
  AZURE_OPENAI_API_KEY_FILE: z
    .string()
    .optional()
    .describe('File with keys for azure, one a line; it is read again when it changes'),
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
      description: 'Several keys for deepseek, comma-separated: one that is limited or refused gives way to the next',
    }),
  DEEPSEEK_API_KEY_FILE: z
    .string()
    .optional()
    .describe('File with keys for deepseek, one a line; it is read again when it changes'),
  DEEPSEEK_BASE_URL: baseUrl().optional().describe('API base URL for deepseek'),
  GLM_API_KEY: z
    .string()
    .optional()
    .meta({ ...secret, description: 'Key for glm' }),
  GLM_API_KEYS: keyList()
    .optional()
    .meta({
      ...secret,
      description: 'Several keys for glm, comma-separated: one that is limited or refused gives way to the next',
    }),
  GLM_API_KEY_FILE: z
    .string()
    .optional()
    .describe('File with keys for glm, one a line; it is read again when it changes'),
  GLM_BASE_URL: baseUrl().optional().describe('API base URL for glm'),
  OLLAMA_BASE_URL: baseUrl().optional().describe('API base URL for ollama'),
};
