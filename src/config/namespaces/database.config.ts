import { choice, flag, integer, pattern } from '../env-value.schema.js';
import { compact, type ConfigContext, namespace, type NamespaceConfig } from '../namespace.factory.js';
import { databaseKind, databaseSchema, databaseUrl, redisUrl, sessionStoreChoice } from '../store-url.schema.js';

/** Variables that affect data in the database: applications that share it must have the same values. */
const SHARED_VARIABLES = [
  'REDIS_URL',
  'ENCRYPTION_KEYS',
  'ENCRYPTION_STRICT',
  'SESSION_STORE',
  'SESSION_TTL_SECONDS',
  'RUN_RETENTION_DAYS',
  'RUN_RETENTION_FAILED_DAYS',
  'USAGE_RETENTION_DAYS',
  'ACCESS_LOG_RETENTION_DAYS',
];

/** Time of a process between the end of its runs and its own end, in ms. */
const AFTER_SHUTDOWN_MS = 2_000;

/** The journal's database. Without `url` it is the SQLite file `jackdaw.db` in `dataDir`. */
export const databaseConfig = namespace(
  'jackdaw.database',
  'Database',
  {
    DATA_DIR: pattern(/^[^~]/, 'a path without ~, which only a shell expands')
      .default('./data')
      .describe('Folder of Jackdaw’s data; in a host application `./.jackdaw` by default'),
    DATABASE_URL: databaseUrl().optional().meta({
      isSecret: true,
      description:
        'Database: `sqlite:./file`, `postgres://user:password@host/database` or `mariadb://…` (`sslmode` and `sslrootcert` as parameters, for PostgreSQL also `schema`); without it the file `jackdaw.db` in `DATA_DIR`',
    }),
    DATABASE_SCHEMA: databaseSchema()
      .optional()
      .describe(
        'Schema of the tables in a PostgreSQL database, created if it is missing. By default the first of the search path, `public`; in a host application `jackdaw`',
      ),
    ALLOW_NEW_DATABASE: flag()
      .default(false)
      .describe(
        'Whether a missing or empty SQLite file is created beside traces of an earlier one (its log, its lock, session files); otherwise they stop the start',
      ),
    MIGRATE: choice(['on', 'off'])
      .default('on')
      .describe(
        'Whether a start migrates the schema of the database: `on` or `off`. With `off` a start with pending migrations is refused; `jackdaw migrate` applies them',
      ),
    DATABASE_POOL_SIZE: integer(2, 1000)
      .default(8)
      .describe(
        'Maximum connections of this process to PostgreSQL or MariaDB for statements, opened when they are needed; further connections in docs/operations.md',
      ),
    DATABASE_TIMEOUT_MS: integer(500, 60_000, 'ms')
      .default(5_000)
      .describe(
        'Longest wait of a request for the database, in ms: for a connection, a lock and the answer together. Sums of usage, exports, imports, erasure and maintenance have two minutes per statement, migrations no limit',
      ),
    REDIS_URL: redisUrl().optional().meta({
      isSecret: true,
      description:
        '`redis://` or `rediss://` URL; moves the run queue and the bus between processes to Redis. Required for several processes on one MariaDB, optional on PostgreSQL',
    }),
  },
  (env, { values, nameOf, isHost, whenLocked, keepAlive }) => ({
    dataDir: env.DATA_DIR,
    kind: databaseKind(env.DATABASE_URL),
    /** Whether several processes share the database as a cluster. */
    isShared: isCluster(env),
    /** Whether new tables in PostgreSQL get a schema of their own, as the others are a host application's. */
    hasOwnSchema: isHost,
    ...compact({ url: env.DATABASE_URL, schema: env.DATABASE_SCHEMA, redisUrl: env.REDIS_URL }),
    /** Whether an empty database may replace one that was lost. */
    allowsNew: env.ALLOW_NEW_DATABASE,
    /** Whether a start applies pending migrations. */
    migrates: env.MIGRATE === 'on',
    poolSize: env.DATABASE_POOL_SIZE,
    /** Limit of one call of the database, in ms. */
    timeoutMs: env.DATABASE_TIMEOUT_MS,
    /** Whether an idle application keeps the process alive; in a cluster it then takes runs of other processes. */
    keepsProcess: keepAlive ?? isCluster(env),
    /** Behaviour if another process owns the database. */
    whenLocked,
    /** Time in which a process that stops has released the database and ended, in ms. */
    stopLimitMs: Number(values['SHUTDOWN_TIMEOUT_MS']) + AFTER_SHUTDOWN_MS,
    /** By variable. Applications of one process share a database only if these values are equal. */
    sharedSettings: effectiveSettings(values),
    /** The names of the variables, for errors. */
    variableNames: {
      DATA_DIR: nameOf('DATA_DIR'),
      DATABASE_URL: nameOf('DATABASE_URL'),
      DATABASE_SCHEMA: nameOf('DATABASE_SCHEMA'),
      REDIS_URL: nameOf('REDIS_URL'),
      ALLOW_NEW_DATABASE: nameOf('ALLOW_NEW_DATABASE'),
      MIGRATE: nameOf('MIGRATE'),
    },
  }),
);
export type DatabaseConfig = NamespaceConfig<typeof databaseConfig>;

/** The effective values of `SHARED_VARIABLES`: those that depend on another variable are resolved. */
function effectiveSettings(values: ConfigContext['values']): Record<string, unknown> {
  const settings = Object.fromEntries(SHARED_VARIABLES.map((name) => [name, values[name]]));
  const { SESSION_STORE: store, REDIS_URL: redis } = settings as { SESSION_STORE: string; REDIS_URL?: string };
  return {
    ...settings,
    SESSION_STORE: sessionStoreChoice(store, redis),
    RUN_RETENTION_FAILED_DAYS: settings['RUN_RETENTION_FAILED_DAYS'] ?? settings['RUN_RETENTION_DAYS'],
  };
}

/** Whether several processes can share the database: PostgreSQL notifies them; MariaDB needs a Redis for it. */
export function isCluster({ DATABASE_URL, REDIS_URL }: { DATABASE_URL?: string; REDIS_URL?: string }): boolean {
  const kind = databaseKind(DATABASE_URL);
  return kind === 'postgres' || (kind === 'mariadb' && REDIS_URL !== undefined);
}
