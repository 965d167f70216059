import { mistakeLine } from './config-invalid.error.js';
import type { EnvName, EnvValues } from './env.schema.js';
import { compact } from './namespace.factory.js';
import { isCluster } from './namespaces/database.config.js';
import { databaseKind } from './store-url.schema.js';
import { isManagedWorker } from './worker.loader.js';

type Values = Readonly<Partial<EnvValues>>;
type GivenEnv = Readonly<Partial<Record<EnvName, string>>>;

export function graceMistakes(
  { SHUTDOWN_GRACE_MS: ms = 0, SHUTDOWN_TIMEOUT_MS: limitMs }: Values,
  isHost: boolean,
): string[] {
  const mistake = (fault: string) => [mistakeLine('SHUTDOWN_GRACE_MS', String(ms), fault)];
  if (isHost && ms > 0) return mistake('has no effect, as the listener belongs to the application: leave it out');
  if (limitMs === undefined || ms <= limitMs) return [];
  return mistake(`is a part of SHUTDOWN_TIMEOUT_MS, which is ${limitMs}: give at most that`);
}

export function healthMistakes({ HEALTH_PORT: port, HEALTH_HOST: host }: GivenEnv, isHost: boolean): string[] {
  if (isHost && port !== undefined)
    return [mistakeLine('HEALTH_PORT', port, 'has no effect, as only a server has a port of its own: leave it out')];
  return host === undefined || port !== undefined
    ? []
    : [mistakeLine('HEALTH_HOST', host, 'has no effect without HEALTH_PORT: set both, or leave it out')];
}

export function metricsMistakes(
  { METRICS: metrics }: Values,
  { METRICS_PORT: port, METRICS_HOST: host }: GivenEnv,
): string[] {
  const isOff = 'has no effect, as METRICS is off: leave it out';
  if (metrics === 'off')
    return [
      ...(port === undefined ? [] : [mistakeLine('METRICS_PORT', port, isOff)]),
      ...(host === undefined ? [] : [mistakeLine('METRICS_HOST', host, isOff)]),
    ];
  return host === undefined || port !== undefined
    ? []
    : [mistakeLine('METRICS_HOST', host, 'has no effect without METRICS_PORT: set both, or leave it out')];
}

/** More than one process needs a database that they share, and a supervisor that started them. */
export function workerMistakes(
  { WORKERS: text, DATABASE_URL: url, REDIS_URL: redis }: GivenEnv,
  { WORKERS: workers = 1 }: Values,
  isHost: boolean,
): string[] {
  if (text === undefined || workers === 1) return [];
  const mistake = (fault: string) => [mistakeLine('WORKERS', text, fault)];
  if (isHost) return mistake('has no effect, as the process belongs to the application: leave it out');
  if (isManagedWorker())
    return mistake('has no effect in a worker of pm2 or node:cluster, which starts the others: leave it out');
  if (isShared(url, redis)) return [];
  return mistake(
    databaseKind(url) === 'mariadb'
      ? 'needs REDIS_URL, as several processes on MariaDB need Redis: set it, or leave WORKERS out'
      : 'needs a database that several processes can share: set DATABASE_URL to a PostgreSQL, or to a MariaDB with REDIS_URL, or leave WORKERS out',
  );
}

function isShared(url: string | undefined, redis: string | undefined): boolean {
  return isCluster(compact({ DATABASE_URL: url, REDIS_URL: redis }));
}
