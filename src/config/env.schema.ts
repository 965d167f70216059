import { z } from 'zod';
import { apiKeys } from './api-key.parser.js';
import { LLM_PROTOCOLS, LLM_PROVIDERS, LOG_LEVELS } from './app-config.types.js';
import { choice, databaseUrl, decimal, flag, httpUrl, integer, notServedYet, pattern } from './env-value.schema.js';

const HOUR_MS = 3_600_000;
const secret = { isSecret: true };

/** Every variable, once: what it may hold, its default, what it means. The README and .env.example follow it. */
export const ENV_SCHEMA = z.object({
  PORT: integer(0, 65_535).default(3000).describe('TCP port of the server; 0 takes a free one'),
  HOST: pattern(/^\S{1,255}$/, 'a host name or an address')
    .default('127.0.0.1')
    .describe('Address to listen on; one that other machines reach needs `API_KEYS`'),
  DATA_DIR: pattern(/^[^~]/, 'a path without ~, which only a shell expands')
    .default('./data')
    .describe('Folder of everything Jackdaw keeps'),
  DATABASE_URL: databaseUrl()
    .optional()
    .meta({
      ...secret,
      description:
        '`sqlite:` URL of the database; without it `jackdaw.db` in `DATA_DIR`. PostgreSQL and MariaDB are not served yet',
    }),
  REDIS_URL: notServedYet('leave it out')
    .optional()
    .meta({ ...secret, description: 'Not served yet: leave it out' }),
  SESSION_STORE: choice(['database'], ['memory', 'file', 'redis'])
    .default('database')
    .describe('Where sessions are kept; only `database` yet'),
  API_KEYS: apiKeys()
    .optional()
    .meta({
      ...secret,
      description:
        'Who may call the API: comma-separated `id:tenant:role:sha256` entries (roles separated by a vertical bar), made by `npm run key`. Without it only this machine may',
    }),
  LOG_LEVEL: choice(LOG_LEVELS)
    .default('info')
    .describe(`One of ${LOG_LEVELS.join(', ')}`),

  LLM_PROVIDER: choice(LLM_PROVIDERS, ['azure', 'anthropic'])
    .optional()
    .describe(
      `One of ${LLM_PROVIDERS.join(', ')}. By default openai-compatible when LLM_BASE_URL is set, else the first whose key (of ollama: whose URL) is set, else offline`,
    ),
  LLM_MODEL: z.string().optional().describe("Model name; by default the provider's"),
  LLM_PROTOCOL: choice(LLM_PROTOCOLS)
    .default('auto')
    .describe(
      'How tools are written for the model: `native` function calling, `react` or `xml` text; `auto` is native if the model can, else react',
    ),
  LLM_TIMEOUT_MS: integer(1, HOUR_MS, 'ms')
    .default(30_000)
    .describe('Longest silence of the model, in ms: until its reply begins, then between two pieces of it'),
  LLM_TEMPERATURE: decimal(0, 2).optional().describe("0 to 2; by default the provider's"),
  LLM_API_KEY: z
    .string()
    .optional()
    .meta({ ...secret, description: 'Key for the chosen provider when its own variable is not set' }),
  LLM_BASE_URL: httpUrl()
    .optional()
    .describe(
      'API base URL for the chosen provider when its own variable is not set; only `LLM_API_KEY` is sent there, never a provider’s own key',
    ),
  OPENAI_API_KEY: z
    .string()
    .optional()
    .meta({ ...secret, description: 'Key for openai' }),
  OPENAI_BASE_URL: httpUrl().optional().describe('API base URL for openai'),
  DEEPSEEK_API_KEY: z
    .string()
    .optional()
    .meta({ ...secret, description: 'Key for deepseek' }),
  DEEPSEEK_BASE_URL: httpUrl().optional().describe('API base URL for deepseek'),
  GLM_API_KEY: z
    .string()
    .optional()
    .meta({ ...secret, description: 'Key for glm' }),
  GLM_BASE_URL: httpUrl().optional().describe('API base URL for glm'),
  OLLAMA_BASE_URL: httpUrl().optional().describe('API base URL for ollama'),

  AGENT_NAME: pattern(/^[A-Za-z0-9_-]{1,64}$/, '1 to 64 of A-Z a-z 0-9 _ -')
    .default('default')
    .describe('Name of the default agent'),
  AGENT_INSTRUCTIONS: z.string().optional().describe('System prompt of the default agent'),
  AGENT_MAX_ITERATIONS: integer(1, 1000).default(10).describe('Most model calls of one run'),
  AGENT_RUN_TIMEOUT_MS: integer(1, 24 * HOUR_MS, 'ms')
    .default(300_000)
    .describe('Longest time of one run, in ms'),
  AGENT_MAX_RESULT_BYTES: integer(256, 16_777_216, 'bytes')
    .default(65_536)
    .describe('Longest tool result the model is given, in bytes'),
  AGENT_HISTORY_TURNS: integer(0, 1000).default(20).describe('Past turns of a session the model is given'),

  SHUTDOWN_TIMEOUT_MS: integer(0, 9000, 'ms')
    .default(8000)
    .describe('Time that running work gets to finish at a stop, in ms; the rest goes on at the next start'),
  DOCS_ENABLED: flag()
    .optional()
    .describe('Whether `/docs` serves the OpenAPI document, to everybody; by default only without `API_KEYS`'),
});

export type EnvValues = z.output<typeof ENV_SCHEMA>;
export type EnvName = keyof EnvValues;
export const ENV_NAMES = Object.keys(ENV_SCHEMA.shape) as EnvName[];

export interface ConfigVariable {
  readonly name: string;
  readonly description: string;
  /** As it would be written in the environment. */
  readonly default?: string;
  readonly isSecret: boolean;
}

/** The variables in the order of the schema, for documents. */
export function configVariables(): ConfigVariable[] {
  return ENV_NAMES.map((name) => {
    const schema: z.ZodType = ENV_SCHEMA.shape[name];
    const fallback = schema.safeParse(undefined).data as string | number | boolean | undefined;
    return {
      name,
      description: schema.description ?? '',
      ...(fallback !== undefined && { default: String(fallback) }),
      isSecret: schema.meta()?.['isSecret'] === true,
    };
  });
}
