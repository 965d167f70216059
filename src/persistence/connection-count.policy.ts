import type { DatabaseConfig } from '../config/index.js';

type Counted = Pick<DatabaseConfig, 'poolSize' | 'redisUrl' | 'keepsProcess'>;

/** A smaller pool for statements shows that connections are scarce. */
const AMPLE_POOL = 8;

/** Connections of the run queue to PostgreSQL; one of them listens. */
export function queueConnections({ poolSize, redisUrl, keepsProcess }: Counted): number {
  if (redisUrl !== undefined || !keepsProcess) return 0;
  return poolSize < AMPLE_POOL ? 2 : 3;
}

/** Maximum connections of a process to PostgreSQL: for statements, for notifications and for the run queue. */
export function processConnections(config: Counted): number {
  return config.poolSize + (config.redisUrl === undefined ? 1 : 0) + queueConnections(config);
}
