import { join } from 'node:path';
import { z } from 'zod';
import { MOST_STATE_BYTES } from '../../kernel/index.js';
import { choice, flag, integer, pattern } from '../env-value.schema.js';
import { compact, namespace, type NamespaceConfig } from '../namespace.factory.js';
import { databaseKind, redisUrl } from '../store-url.schema.js';
import { databaseConfig, isCluster } from './database.config.js';

/** Maximum delay of a timer, in ms. */
const MAX_MS = 2 ** 31 - 1;

/** The supported formats; `pickle` is refused with the reason. */
function stateFormat() {
  return z.string().transform((text, context): 'json' | 'sqlite' => {
    if (text === 'json' || text === 'sqlite') return text;
    const why =
      text === 'pickle'
        ? 'is refused: reading a pickle executes any code in it; give json or sqlite'
        : 'is not allowed: give json or sqlite';
    context.addIssue({ code: 'custom', message: why });
    return z.NEVER;
  });
}

/** Defaults of tool state, see docs/tool-state.md. A tool may override them. */
export const toolStateConfig = namespace(
  'jackdaw.tool-state',
  'Tool state',
  {
    TOOL_STATE_MANAGER: choice(['memory', 'persistent', 'session', 'distributed'])
      .optional()
      .describe('Manager of tool states; by default `memory`, in a cluster `distributed`'),
    TOOL_STATE_TTL_MS: integer(1, MAX_MS, 'ms')
      .optional()
      .describe('Lifetime of a state after its last change, in ms; by default no limit'),
    TOOL_STATE_CLEANUP: flag().default(true).describe('Whether expired states are deleted in the background'),
    TOOL_STATE_CLEANUP_INTERVAL_MS: integer(100, MAX_MS, 'ms')
      .default(300_000)
      .describe('Interval of this deletion, in ms'),
    TOOL_STATE_FORMAT: stateFormat()
      .default('json')
      .describe('Storage format of `persistent`: one file per context (`json`), or one database (`sqlite`)'),
    TOOL_STATE_PATH: pattern(/^[^~]/, 'a path without ~, which only a shell expands')
      .optional()
      .describe(
        'Storage folder of `persistent`; by default `tool-states` in `DATA_DIR`, or with `sqlite` the journal’s database if that is SQLite',
      ),
    TOOL_STATE_COMPRESSION: flag().default(false).describe('Whether states are stored compressed (gzip)'),
    TOOL_STATE_REDIS_URL: redisUrl()
      .optional()
      .meta({ isSecret: true, description: 'Redis of `distributed`; by default the journal’s database' }),
    TOOL_STATE_REDIS_PREFIX: pattern(/^[\w:.-]{1,100}$/, '1 to 100 letters, digits and _ : . -')
      .default('tool_state')
      .describe('Prefix of its keys'),
    TOOL_STATE_REDIS_DB: integer(0, 1_000_000)
      .optional()
      .describe('Number of its database; by default that of the URL, or 0'),
    TOOL_STATE_MAX_PER_SESSION: integer(1, 1_000_000)
      .default(10)
      .describe('Maximum tools with a state per session, with `session`'),
    TOOL_STATE_SESSION_TIMEOUT_MS: integer(1, MAX_MS, 'ms')
      .default(3_600_000)
      .describe('Lifetime of a state after its last use, in ms, with `session`'),
    TOOL_STATE_MAX_BYTES: integer(2, MOST_STATE_BYTES, 'bytes')
      .default(1_048_576)
      .describe('Maximum size of a state as JSON, in bytes; at most 4194304'),
    TOOL_STATE_MAX_HISTORY: integer(0, 1_000_000)
      .default(1000)
      .describe('Number of calls in a state’s history (two entries each)'),
    TOOL_STATE_MAX_VERSIONS: integer(0, 10_000)
      .default(10)
      .describe('Number of business states available for rollback'),
    TOOL_STATE_CONFLICT: choice(['last_write_wins', 'first_write_wins', 'merge', 'error'])
      .default('last_write_wins')
      .describe('Write-conflict strategy'),
    TOOL_STATE_AUTO_SAVE: flag().default(true).describe('Whether a successful call saves its changes automatically'),
    TOOL_STATE_SYNC_ON_CHANGE: flag()
      .default(true)
      .describe('Whether a change is copied to an external store at once, or with the next sync'),
    TOOL_STATE_SYNC_INTERVAL_MS: integer(100, MAX_MS, 'ms')
      .default(60_000)
      .describe('Interval of the sync of pending changes, in ms'),
    TOOL_STATE_BACKUP: flag().default(false).describe('Whether states are backed up, to `backups` in `DATA_DIR`'),
    TOOL_STATE_BACKUP_INTERVAL_MS: integer(1000, MAX_MS, 'ms')
      .default(3_600_000)
      .describe('Interval of backups, in ms'),
    TOOL_STATE_BACKUP_RETENTION_DAYS: integer(1, 36_500, 'days')
      .default(7)
      .describe('Days after which a backup is deleted'),
  },
  (env) => ({
    manager: env.TOOL_STATE_MANAGER ?? (isCluster(env) ? 'distributed' : 'memory'),
    /** Lifetime after a state's last change; `null` means no limit. */
    ttlMs: env.TOOL_STATE_TTL_MS ?? null,
    /** `null`: expired states remain until they are accessed. */
    cleanupIntervalMs: env.TOOL_STATE_CLEANUP ? env.TOOL_STATE_CLEANUP_INTERVAL_MS : null,
    format: env.TOOL_STATE_FORMAT,
    path: pathOf(env),
    isCompressed: env.TOOL_STATE_COMPRESSION,
    /** Without a URL, the journal's database is used. */
    redis: {
      prefix: env.TOOL_STATE_REDIS_PREFIX,
      ...compact({ url: env.TOOL_STATE_REDIS_URL, db: env.TOOL_STATE_REDIS_DB }),
    },
    maxPerSession: env.TOOL_STATE_MAX_PER_SESSION,
    sessionTimeoutMs: env.TOOL_STATE_SESSION_TIMEOUT_MS,
    maxBytes: env.TOOL_STATE_MAX_BYTES,
    maxHistory: env.TOOL_STATE_MAX_HISTORY,
    maxVersions: env.TOOL_STATE_MAX_VERSIONS,
    conflict: env.TOOL_STATE_CONFLICT,
    isSavedAlone: env.TOOL_STATE_AUTO_SAVE,
    sync: { isOnChange: env.TOOL_STATE_SYNC_ON_CHANGE, intervalMs: env.TOOL_STATE_SYNC_INTERVAL_MS },
    /** `null` disables backups. */
    backup: env.TOOL_STATE_BACKUP
      ? { intervalMs: env.TOOL_STATE_BACKUP_INTERVAL_MS, keptDays: env.TOOL_STATE_BACKUP_RETENTION_DAYS }
      : null,
  }),
  databaseConfig,
);
export type ToolStateConfig = NamespaceConfig<typeof toolStateConfig>;

interface PathValues {
  readonly TOOL_STATE_PATH?: string;
  readonly TOOL_STATE_FORMAT: 'json' | 'sqlite';
  readonly DATABASE_URL?: string;
  readonly DATA_DIR: string;
}

/** A folder; `null` for the journal's database. */
function pathOf({ TOOL_STATE_PATH, TOOL_STATE_FORMAT, DATABASE_URL, DATA_DIR }: PathValues): string | null {
  if (TOOL_STATE_PATH !== undefined) return TOOL_STATE_PATH;
  const isInJournal = TOOL_STATE_FORMAT === 'sqlite' && databaseKind(DATABASE_URL) === 'sqlite';
  return isInJournal ? null : join(DATA_DIR, 'tool-states');
}
