import type { EnvValues } from './env.schema.js';
import { databaseKind } from './store-url.schema.js';

/** PostgreSQL serves many processes alone; MariaDB has no notifications and needs a Redis. */
export function isCluster({
  DATABASE_URL,
  REDIS_URL,
}: Pick<Partial<EnvValues>, 'DATABASE_URL' | 'REDIS_URL'>): boolean {
  const kind = databaseKind(DATABASE_URL);
  return kind === 'postgres' || (kind === 'mariadb' && REDIS_URL !== undefined);
}
