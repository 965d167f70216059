import { z } from 'zod';
import { choice, flag, integer, pattern } from './env-value.schema.js';
import { redisUrl } from './store-url.schema.js';

/** The longest delay of a timer, in ms. */
const MAX_MS = 2 ** 31 - 1;

/** The most bytes (UTF-8) of any state as JSON: it is journaled with a call's result, which may be as long. */
export const MOST_STATE_BYTES = 4 * 1024 * 1024;

/** The formats that are served; `pickle` is refused with the reason. */
function stateFormat() {
  return z.string().transform((text, context) => {
    if (text === 'json' || text === 'sqlite') return text;
    const why =
      text === 'pickle'
        ? 'is refused: reading a pickle runs whatever code stands in it; give json or sqlite'
        : 'is not allowed: give json or sqlite';
    context.addIssue({ code: 'custom', message: why });
    return z.NEVER;
  });
}

/** How tools keep state; docs/tool-state.md tells each of them. A tool may say otherwise for itself. */
export const TOOL_STATE_VARIABLES = {
  TOOL_STATE_MANAGER: choice(['memory', 'persistent', 'session', 'distributed'])
    .optional()
    .describe('What keeps the states of tools; by default `memory`, in a cluster `distributed`'),
  TOOL_STATE_TTL_MS: integer(1, MAX_MS, 'ms')
    .optional()
    .describe('How long a state lives after its last change; without it for ever'),
  TOOL_STATE_CLEANUP: flag().default(true).describe('Whether expired states are deleted in the background'),
  TOOL_STATE_CLEANUP_INTERVAL_MS: integer(100, MAX_MS, 'ms').default(300_000).describe('How often that is done'),
  TOOL_STATE_FORMAT: stateFormat()
    .default('json')
    .describe('What `persistent` keeps: a file a context (`json`), or one database (`sqlite`)'),
  TOOL_STATE_PATH: pattern(/^[^~]/, 'a path without ~, which only a shell expands')
    .optional()
    .describe(
      'Where `persistent` keeps it; by default `tool-states` in `DATA_DIR`, and for `sqlite` the database of the runs, if that is SQLite',
    ),
  TOOL_STATE_COMPRESSION: flag().default(false).describe('Whether states are stored compressed (gzip)'),
  TOOL_STATE_REDIS_URL: redisUrl()
    .optional()
    .meta({ isSecret: true, description: 'The Redis of `distributed`; without it the database of the runs' }),
  TOOL_STATE_REDIS_PREFIX: pattern(/^[\w:.-]{1,100}$/, '1 to 100 letters, digits and _ : . -')
    .default('tool_state')
    .describe('What its keys begin with'),
  TOOL_STATE_REDIS_DB: integer(0, 1_000_000).optional().describe('Its database; by default that of the URL, or 0'),
  TOOL_STATE_MAX_PER_SESSION: integer(1, 1_000_000)
    .default(10)
    .describe('Most tools that `session` keeps states of in one session'),
  TOOL_STATE_SESSION_TIMEOUT_MS: integer(1, MAX_MS, 'ms')
    .default(3_600_000)
    .describe('How long `session` keeps a state after its last use'),
  TOOL_STATE_MAX_BYTES: integer(2, MOST_STATE_BYTES, 'bytes')
    .default(1_048_576)
    .describe('Longest state, as JSON; at most 4194304'),
  TOOL_STATE_MAX_HISTORY: integer(0, 1_000_000).default(1000).describe('Calls (two entries each) that are remembered'),
  TOOL_STATE_MAX_VERSIONS: integer(0, 10_000).default(10).describe('Business states that can be gone back to'),
  TOOL_STATE_CONFLICT: choice(['last_write_wins', 'first_write_wins', 'merge', 'error'])
    .default('last_write_wins')
    .describe('What becomes of a change that was made on another state than the one that is there'),
  TOOL_STATE_AUTO_SAVE: flag().default(true).describe('Whether a call that succeeds keeps its changes unasked'),
  TOOL_STATE_SYNC_ON_CHANGE: flag()
    .default(true)
    .describe('Whether a change reaches a store beside the database of the runs at once, or with the next sync'),
  TOOL_STATE_SYNC_INTERVAL_MS: integer(100, MAX_MS, 'ms')
    .default(60_000)
    .describe('How often such changes are carried over that have not been'),
  TOOL_STATE_BACKUP: flag().default(false).describe('Whether states are backed up, to `backups` in `DATA_DIR`'),
  TOOL_STATE_BACKUP_INTERVAL_MS: integer(1000, MAX_MS, 'ms').default(3_600_000).describe('How often'),
  TOOL_STATE_BACKUP_RETENTION_DAYS: integer(1, 36_500, 'days').default(7).describe('How long a backup is kept'),
};
