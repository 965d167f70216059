import { choice, integer } from '../env-value.schema.js';
import { namespace, type NamespaceConfig } from '../namespace.factory.js';
import { sessionStore, sessionStoreChoice } from '../store-url.schema.js';
import { databaseConfig } from './database.config.js';

const DAY_SECONDS = 86_400;

/** The store of sessions' turns, and the long-term memory. */
export const sessionConfig = namespace(
  'jackdaw.session',
  'Sessions',
  {
    SESSION_STORE: sessionStore().default('database').meta({
      isSecret: true,
      description:
        'Store of sessions’ messages: `database` (beside the runs), `file` (in `DATA_DIR`), `redis` (at `REDIS_URL`), `memory`, or a `redis://` or database URL',
    }),
    SESSION_TTL_SECONDS: integer(0, 1_000_000_000, 's')
      .optional()
      .describe(
        'Lifetime of a session after its last change, in seconds; 0 means no limit. Expired sessions are deleted within a tenth of it, at most 10 minutes. Default: no limit with `database` and `memory`, 86400 with `file` and `redis`',
      ),
    LONG_TERM_MEMORY: choice(['off', 'on'])
      .default('off')
      .describe('`on` gives agents the tools `remember` and `recall`: facts about a user, stored beyond a session'),
  },
  (env) => {
    const store = sessionStoreChoice(env.SESSION_STORE, env.REDIS_URL);
    return {
      store,
      /** 0 for no limit. */
      ttlSeconds: env.SESSION_TTL_SECONDS ?? (store.kind === 'file' || store.kind === 'redis' ? DAY_SECONDS : 0),
      hasLongTermMemory: env.LONG_TERM_MEMORY === 'on',
    };
  },
  databaseConfig,
);
export type SessionConfig = NamespaceConfig<typeof sessionConfig>;
