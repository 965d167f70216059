import { pattern } from '../env-value.schema.js';
import { compact, type ConfigContext, namespace, type NamespaceConfig } from '../namespace.factory.js';
import { databaseKind, databaseUrl, redisUrl, sessionStoreChoice } from '../store-url.schema.js';

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
        'Database: `sqlite:./file`, `postgres://user:password@host/database` or `mariadb://…` (`sslmode` and `sslrootcert` as parameters); without it the file `jackdaw.db` in `DATA_DIR`',
    }),
    REDIS_URL: redisUrl().optional().meta({
      isSecret: true,
      description:
        '`redis://` or `rediss://` URL; moves the run queue and the bus between processes to Redis. Required for several processes on one MariaDB, optional on PostgreSQL',
    }),
  },
  (env, { values, nameOf }) => ({
    dataDir: env.DATA_DIR,
    kind: databaseKind(env.DATABASE_URL),
    /** Whether several processes share the database as a cluster. */
    isShared: isCluster(env),
    ...compact({ url: env.DATABASE_URL, redisUrl: env.REDIS_URL }),
    /** By variable. Applications of one process share a database only if these values are equal. */
    sharedSettings: effectiveSettings(values),
    /** The names of the variables, for errors. */
    variableNames: {
      DATA_DIR: nameOf('DATA_DIR'),
      DATABASE_URL: nameOf('DATABASE_URL'),
      REDIS_URL: nameOf('REDIS_URL'),
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
