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

/** Every variable, once: its values, default and description. The README and .env.example are generated from it. */
export const ENV_SCHEMA = z.object({
  PORT: integer(0, 65_535).default(3000).describe('TCP port of the server; 0 selects a free one'),
  HOST: pattern(/^\S{1,255}$/, 'a host name or an address')
    .default('127.0.0.1')
    .describe('Address to listen on; an address beyond loopback requires `API_KEYS`'),
  DATA_DIR: pattern(/^[^~]/, 'a path without ~, which only a shell expands')
    .default('./data')
    .describe('Folder of Jackdaw’s data'),
  DATABASE_URL: databaseUrl()
    .optional()
    .meta({
      ...secret,
      description:
        'Database: `sqlite:./file`, `postgres://user:password@host/database` or `mariadb://…` (`sslmode` and `sslrootcert` as parameters); without it the file `jackdaw.db` in `DATA_DIR`',
    }),
  REDIS_URL: redisUrl()
    .optional()
    .meta({
      ...secret,
      description:
        '`redis://` or `rediss://` URL; moves the run queue and the bus between processes to Redis. Required for several processes on one MariaDB, optional on PostgreSQL',
    }),
  SESSION_STORE: sessionStore()
    .default('database')
    .meta({
      ...secret,
      description:
        'Store of sessions’ messages: `database` (beside the runs), `file` (in `DATA_DIR`), `redis` (at `REDIS_URL`), `memory`, or a `redis://` or database URL',
    }),
  SESSION_BUSY: choice(['queue', 'reject'])
    .default('queue')
    .describe(
      'Handling of a chat in a session with an open run: `queue`, or `reject` with 409 `SESSION_BUSY`. Behind a run that waits for a decision it is always 409; background runs always queue',
    ),
  SESSION_TTL_SECONDS: integer(0, 1_000_000_000, 's')
    .default(86_400)
    .describe('With `file` and `redis`: lifetime of a session after its last message, in seconds; 0 means no limit'),
  API_KEYS: apiKeys()
    .optional()
    .meta({
      ...secret,
      description:
        'API keys: comma-separated `id:tenant:role:sha256` entries made by `npm run key`, with one or more roles (separated by a vertical bar); `admin`, `user`, `viewer` and `operator` grant permissions. Without it only this machine may call the API',
    }),
  ENCRYPTION_KEYS: encryptionKeys()
    .optional()
    .meta({
      ...secret,
      description:
        'Keys for the encryption of user content in the database: comma-separated `id:key` entries, a key is 32 bytes in base64 (`openssl rand -base64 32`). The first encrypts, all decrypt; older rows are rewritten in the background',
    }),
  ENCRYPTION_STRICT: flag()
    .default(false)
    .describe(
      'Whether unencrypted rows are rejected. Set it once the log reports that all rows are encrypted; it then prevents the insertion of forged rows',
    ),
  ACCESS_LOG: choice(['on', 'off'])
    .default('off')
    .describe('Whether the table `access_log` records who reads, exports or erases sessions and runs: `on` or `off`'),
  ACCESS_LOG_RETENTION_DAYS: integer(0, 36_500, 'days')
    .default(365)
    .describe('Days after which entries of the access log are deleted; 0 disables the deletion'),
  SECURITY_POLICY_FILE: pattern(/^[^~]/, 'a path without ~, which only a shell expands')
    .optional()
    .describe(
      'JSON file of the security policy for agents, such as `config/security-policy.json`: tool lists, rate limits and content filters (docs/policies.md)',
    ),
  LOG_LEVEL: choice(LOG_LEVELS)
    .default('info')
    .describe(`One of ${LOG_LEVELS.join(', ')}`),

  ...MODEL_VARIABLES,

  AGENT_NAME: pattern(/^[A-Za-z0-9_-]{1,64}$/, '1 to 64 of A-Z a-z 0-9 _ -')
    .default('default')
    .describe('Name of the default agent'),
  AGENT_INSTRUCTIONS: z.string().optional().describe('System prompt of the default agent'),
  AGENT_MAX_ITERATIONS: integer(1, 1000).default(10).describe('Maximum model calls per run'),
  AGENT_RUN_TIMEOUT_MS: integer(1, 24 * HOUR_MS, 'ms')
    .default(300_000)
    .describe('Time limit of a run, in ms'),
  AGENT_MAX_DEPTH: integer(0, 16)
    .default(3)
    .describe('Maximum depth of nested agent calls of the default agent; 0 disables them'),
  AGENT_MAX_RESULT_BYTES: integer(256, 16_777_216, 'bytes')
    .default(65_536)
    .describe('Maximum size of a tool result for the model, in bytes'),
  AGENT_MAX_IMAGE_BYTES: integer(0, 50_331_648, 'bytes')
    .default(5_242_880)
    .describe('Maximum total size of the data-URI images of one request, and of one tool result, in bytes'),
  AGENT_MEMORY_ENABLED: flag().default(true).describe('Whether a run receives earlier turns of its session'),
  AGENT_MEMORY_POLICY: z
    .string()
    .default('sliding_window')
    .describe('Selection of earlier turns: `sliding_window`, `fixed_window`, `lru`, `token_budget` or `summary`'),
  AGENT_MEMORY_MAX_MESSAGES: integer(0, 1_000_000)
    .optional()
    .describe('Maximum earlier messages for the model; by default 200'),
  AGENT_MEMORY_MAX_CONTEXT_TOKENS: integer(0, 100_000_000)
    .optional()
    .describe(
      'Maximum tokens of earlier messages for the model; by default a quarter of its context window, at most 16,000, or 8,000 if the window is unknown',
    ),
  AGENT_MEMORY_INCLUDE_TOOL_CALLS: flag()
    .default(true)
    .describe('Whether the model receives earlier tool calls and results'),
  AGENT_MEMORY_KEEP_FIRST: integer(0, 10_000)
    .default(10)
    .describe('Number of first messages that `fixed_window` always includes'),

  ...AGENT_FILE_VARIABLES,
  ...WORKFLOW_VARIABLES,
  ...TOOL_VARIABLES,
  ...MCP_VARIABLES,

  ...TOOL_STATE_VARIABLES,

  ...MCP_SERVER_VARIABLES,

  LONG_TERM_MEMORY: choice(['off', 'on'])
    .default('off')
    .describe('`on` gives agents the tools `remember` and `recall`: facts about a user, stored beyond a session'),
  EMBEDDING_MODEL: pattern(/^\S{1,200}$/, 'the name of a model, 1 to 200 characters without spaces')
    .optional()
    .describe("The provider's embedding model; with it facts are recalled by meaning too, without it by words only"),

  RUN_CONCURRENCY: integer(1, 100_000)
    .default(500)
    .describe('Maximum runs executed at once per process; further runs queue'),
  RUN_TENANT_CONCURRENCY: integer(0, 100_000)
    .default(0)
    .describe('Maximum concurrent runs of a tenant, across all processes; 0 means no limit'),
  RUN_AGENT_CONCURRENCY: integer(0, 100_000)
    .default(0)
    .describe('Maximum concurrent runs of an agent, across all processes; 0 means no limit'),
  RUN_QUEUE_LIMIT: integer(0, 10_000_000)
    .default(10_000)
    .describe('Maximum queued runs; further runs are rejected with 503 and `Retry-After`'),
  RUN_TENANT_QUEUE_LIMIT: integer(0, 10_000_000)
    .default(0)
    .describe('Maximum queued runs of a tenant, else 429; 0 means no limit'),
  RUN_TENANT_RATE_PER_MINUTE: integer(0, 10_000_000)
    .default(0)
    .describe('Maximum new runs of a tenant per minute, else 429; 0 means no limit'),
  CLUSTER_LEASE_MS: integer(500, 600_000, 'ms')
    .default(10_000)
    .describe('Time without a heartbeat after which other processes of the cluster take over a process’s runs, in ms'),
  CLUSTER_CHECK_MS: integer(100, 60_000, 'ms')
    .default(2000)
    .describe('Interval of the sweep for orphaned runs in a cluster, in ms'),
  RUN_RETENTION_DAYS: integer(0, 36_500, 'days')
    .default(90)
    .describe('Days after which the journal of a completed run is deleted; 0 disables the deletion'),
  RUN_RETENTION_FAILED_DAYS: integer(0, 36_500, 'days')
    .optional()
    .describe('Same for failed and cancelled runs; by default as `RUN_RETENTION_DAYS`'),
  USAGE_RETENTION_DAYS: integer(0, 36_500, 'days')
    .default(400)
    .describe('Days after which the usage rows of model calls are deleted (`GET /api/usage`); 0 disables the deletion'),

  SHUTDOWN_TIMEOUT_MS: integer(0, 9000, 'ms')
    .default(8000)
    .describe('Time for running work to finish at shutdown, in ms; unfinished runs resume at the next start'),
  DOCS_ENABLED: flag()
    .optional()
    .describe('Whether `/docs` serves the OpenAPI document without authentication; by default only without `API_KEYS`'),
});

export type EnvValues = z.output<typeof ENV_SCHEMA>;
export type EnvName = keyof EnvValues;
export const ENV_NAMES = Object.keys(ENV_SCHEMA.shape) as EnvName[];

export interface ConfigVariable {
  readonly name: string;
  readonly description: string;
  /** In environment notation. */
  readonly default?: string;
  readonly isSecret: boolean;
}

/** The variables in the order of the schema, for the documentation. */
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
