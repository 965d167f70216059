import { join } from 'node:path';
import { isCluster } from './cluster.policy.js';
import type { EnvValues } from './env.schema.js';
import { databaseKind } from './store-url.schema.js';
import type { ToolStateConfig } from './tool-state-config.types.js';

/** Groups the checked variables of tool state. */
export function toolStateOf(values: EnvValues): ToolStateConfig {
  const { TOOL_STATE_REDIS_URL: url, TOOL_STATE_REDIS_DB: db } = values;
  return {
    manager: values.TOOL_STATE_MANAGER ?? (isCluster(values) ? 'distributed' : 'memory'),
    ttlMs: values.TOOL_STATE_TTL_MS ?? null,
    cleanupIntervalMs: values.TOOL_STATE_CLEANUP ? values.TOOL_STATE_CLEANUP_INTERVAL_MS : null,
    format: values.TOOL_STATE_FORMAT,
    path: pathOf(values),
    isCompressed: values.TOOL_STATE_COMPRESSION,
    redis: {
      prefix: values.TOOL_STATE_REDIS_PREFIX,
      ...(url !== undefined && { url }),
      ...(db !== undefined && { db }),
    },
    maxPerSession: values.TOOL_STATE_MAX_PER_SESSION,
    sessionTimeoutMs: values.TOOL_STATE_SESSION_TIMEOUT_MS,
    maxBytes: values.TOOL_STATE_MAX_BYTES,
    maxHistory: values.TOOL_STATE_MAX_HISTORY,
    maxVersions: values.TOOL_STATE_MAX_VERSIONS,
    conflict: values.TOOL_STATE_CONFLICT,
    isSavedAlone: values.TOOL_STATE_AUTO_SAVE,
    sync: { isOnChange: values.TOOL_STATE_SYNC_ON_CHANGE, intervalMs: values.TOOL_STATE_SYNC_INTERVAL_MS },
    backup: values.TOOL_STATE_BACKUP
      ? { intervalMs: values.TOOL_STATE_BACKUP_INTERVAL_MS, keptDays: values.TOOL_STATE_BACKUP_RETENTION_DAYS }
      : null,
  };
}

function pathOf({ TOOL_STATE_PATH, TOOL_STATE_FORMAT, DATABASE_URL, DATA_DIR }: EnvValues): string | null {
  if (TOOL_STATE_PATH !== undefined) return TOOL_STATE_PATH;
  const isInJournal = TOOL_STATE_FORMAT === 'sqlite' && databaseKind(DATABASE_URL) === 'sqlite';
  return isInJournal ? null : join(DATA_DIR, 'tool-states');
}
