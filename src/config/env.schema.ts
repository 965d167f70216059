import { z } from 'zod';
import { AGENT_FILE_VARIABLES } from './agent-file-env.schema.js';
import { apiKeys } from './api-key.parser.js';
import { LOG_LEVELS } from './app-config.types.js';
import { encryptionKeys } from './encryption-key.parser.js';
import { choice, flag, integer, pattern } from './env-value.schema.js';
import { MCP_VARIABLES } from './mcp-env.schema.js';
import { MCP_SERVER_VARIABLES } from './mcp-server-env.schema.js';
import { MODEL_VARIABLES } from './model-env.schema.js';
import { databaseUrl, redisUrl, sessionStore } from './store-url.schema.js';
import { TOOL_VARIABLES } from './tool-env.schema.js';
import { TOOL_STATE_VARIABLES } from './tool-state-env.schema.js';
import { WORKFLOW_VARIABLES } from './workflow-env.schema.js';

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
        'The database: `sqlite:./file`, `postgres://user:password@host/database` or `mariadb://…` (`sslmode` and `sslrootcert` as parameters); without it the file `jackdaw.db` in `DATA_DIR`',
    }),
  REDIS_URL: redisUrl()
    .optional()
    .meta({
      ...secret,
      description:
        '`redis://` or `rediss://` URL; moves the queue of runs and the bus between processes to Redis. Several processes on one MariaDB need it, on PostgreSQL they do not',
    }),
  SESSION_STORE: sessionStore()
    .default('database')
    .meta({
      ...secret,
      description:
        'Where sessions’ messages are kept: `database` (beside the runs), `file` (in `DATA_DIR`), `redis` (at `REDIS_URL`), `memory`, or a `redis://` or database URL',
    }),
  SESSION_BUSY: choice(['queue', 'reject'])
    .default('queue')
    .describe(
      'What becomes of a chat in a session whose run has not ended: `queue` lets it wait for its turn, `reject` answers 409 `SESSION_BUSY`. Behind a run that waits for a person it is always 409; runs in the background always queue',
    ),
  SESSION_TTL_SECONDS: integer(0, 1_000_000_000, 's')
    .default(86_400)
    .describe('With `file` and `redis`: seconds after its last message for which a session is kept; 0 is for ever'),
  API_KEYS: apiKeys()
    .optional()
    .meta({
      ...secret,
      description:
        'Keys from the start on: comma-separated `id:tenant:role:sha256` entries made by `npm run key`, with one or more roles (separated by a vertical bar) of which `admin`, `user`, `viewer` and `operator` say what the key may do. Without it only this machine may call the API',
    }),
  ENCRYPTION_KEYS: encryptionKeys()
    .optional()
    .meta({
      ...secret,
      description:
        'What users say is encrypted in the database: comma-separated `id:key` entries, a key is 32 bytes in base64 (`openssl rand -base64 32`). The first writes, all read; older rows are rewritten in the background',
    }),
  ENCRYPTION_STRICT: flag()
    .default(false)
    .describe(
      'Whether rows that are not encrypted are refused: set it once the log says that everything is, so that nobody who can write to the database slips other rows in',
    ),
  ACCESS_LOG: choice(['on', 'off'])
    .default('off')
    .describe('Whether the table `access_log` records who reads, exports or erases sessions and runs: `on` or `off`'),
  ACCESS_LOG_RETENTION_DAYS: integer(0, 36_500, 'days')
    .default(365)
    .describe('Days after which entries of the access log are deleted; 0 keeps them for ever'),
  SECURITY_POLICY_FILE: pattern(/^[^~]/, 'a path without ~, which only a shell expands')
    .optional()
    .describe(
      'What agents may do: a JSON file such as `config/security-policy.json` with lists of tools, limits and filters of content (docs/policies.md)',
    ),
  LOG_LEVEL: choice(LOG_LEVELS)
    .default('info')
    .describe(`One of ${LOG_LEVELS.join(', ')}`),

  ...MODEL_VARIABLES,

  AGENT_NAME: pattern(/^[A-Za-z0-9_-]{1,64}$/, '1 to 64 of A-Z a-z 0-9 _ -')
    .default('default')
    .describe('Name of the default agent'),
  AGENT_INSTRUCTIONS: z.string().optional().describe('System prompt of the default agent'),
  AGENT_MAX_ITERATIONS: integer(1, 1000).default(10).describe('Most model calls of one run'),
  AGENT_RUN_TIMEOUT_MS: integer(1, 24 * HOUR_MS, 'ms')
    .default(300_000)
    .describe('Longest time of one run, in ms'),
  AGENT_MAX_DEPTH: integer(0, 16)
    .default(3)
    .describe('How deep the default agent may have agents ask one another; 0: it asks none'),
  AGENT_MAX_RESULT_BYTES: integer(256, 16_777_216, 'bytes')
    .default(65_536)
    .describe('Longest tool result the model is given, in bytes'),
  AGENT_MAX_IMAGE_BYTES: integer(0, 50_331_648, 'bytes')
    .default(5_242_880)
    .describe(
      'Most bytes that the images of one request, and those of one tool result, may have together, as far as they are data URIs',
    ),
  AGENT_MEMORY_ENABLED: flag().default(true).describe('Whether a run sees the past of its session'),
  AGENT_MEMORY_POLICY: z
    .string()
    .default('sliding_window')
    .describe('What of it: `sliding_window`, `fixed_window`, `lru`, `token_budget` or `summary`'),
  AGENT_MEMORY_MAX_MESSAGES: integer(0, 1_000_000)
    .optional()
    .describe('Most past messages the model is given; 200 when left out'),
  AGENT_MEMORY_MAX_CONTEXT_TOKENS: integer(0, 100_000_000)
    .optional()
    .describe(
      'Most tokens of past messages the model is given; when left out, a quarter of its context window, at most 16,000, or 8,000 where the window is unknown',
    ),
  AGENT_MEMORY_INCLUDE_TOOL_CALLS: flag().default(true).describe('Whether it is given past tool calls and results'),
  AGENT_MEMORY_KEEP_FIRST: integer(0, 10_000)
    .default(10)
    .describe('Messages at the beginning that `fixed_window` always keeps'),

  ...AGENT_FILE_VARIABLES,
  ...WORKFLOW_VARIABLES,
  ...TOOL_VARIABLES,
  ...MCP_VARIABLES,

  ...TOOL_STATE_VARIABLES,

  ...MCP_SERVER_VARIABLES,

  LONG_TERM_MEMORY: choice(['off', 'on'])
    .default('off')
    .describe('`on` gives agents the tools `remember` and `recall`: facts of a user that outlive a session'),
  EMBEDDING_MODEL: pattern(/^\S{1,200}$/, 'the name of a model, 1 to 200 characters without spaces')
    .optional()
    .describe(
      "The provider's model for embeddings; with it facts are recalled by their meaning too, without it by their words",
    ),

  RUN_CONCURRENCY: integer(1, 100_000)
    .default(500)
    .describe('Most runs that one process executes at once; more of them queue'),
  RUN_TENANT_CONCURRENCY: integer(0, 100_000)
    .default(0)
    .describe('Most runs of one tenant that go on at once, in all processes together; 0 is no limit'),
  RUN_AGENT_CONCURRENCY: integer(0, 100_000)
    .default(0)
    .describe('Most runs of one agent that go on at once, in all processes together; 0 is no limit'),
  RUN_QUEUE_LIMIT: integer(0, 10_000_000)
    .default(10_000)
    .describe('Most runs that wait for their turn; further ones are answered with 503 and `Retry-After`'),
  RUN_TENANT_QUEUE_LIMIT: integer(0, 10_000_000)
    .default(0)
    .describe('Most runs of one tenant that wait for their turn, else 429; 0 is no limit'),
  RUN_TENANT_RATE_PER_MINUTE: integer(0, 10_000_000)
    .default(0)
    .describe('Most runs that one tenant begins in a minute, else 429; 0 is no limit'),
  CLUSTER_LEASE_MS: integer(500, 600_000, 'ms')
    .default(10_000)
    .describe('Silence of a process, in ms, after which the others of its cluster take its runs over'),
  CLUSTER_CHECK_MS: integer(100, 60_000, 'ms')
    .default(2000)
    .describe('Time between two looks for runs that no process of the cluster executes, in ms'),
  RUN_RETENTION_DAYS: integer(0, 36_500, 'days')
    .default(90)
    .describe('Days after which the journal of a completed run is deleted; 0 keeps it for ever'),
  RUN_RETENTION_FAILED_DAYS: integer(0, 36_500, 'days')
    .optional()
    .describe('The same for failed and cancelled runs; by default as `RUN_RETENTION_DAYS`'),
  USAGE_RETENTION_DAYS: integer(0, 36_500, 'days')
    .default(400)
    .describe('Days for which it is kept what each model call took, for `GET /api/usage`; 0 keeps it for ever'),

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
