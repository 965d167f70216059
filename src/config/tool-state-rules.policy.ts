import { isCluster } from './cluster.policy.js';
import { mistakeLine } from './config-invalid.error.js';
import type { EnvName, EnvValues } from './env.schema.js';

type Given = Readonly<Partial<Record<EnvName, string>>>;

type Values = Readonly<Partial<EnvValues>>;

/** Variables without effect under a condition, with their defaults, the condition and the error. */
const IDLE: readonly (readonly [names: Given, isIdle: (values: Values) => boolean, why: string])[] = [
  [
    { TOOL_STATE_CLEANUP_INTERVAL_MS: '300000' },
    ({ TOOL_STATE_CLEANUP }) => TOOL_STATE_CLEANUP === false,
    without('TOOL_STATE_CLEANUP'),
  ],
  [
    { TOOL_STATE_BACKUP_INTERVAL_MS: '3600000', TOOL_STATE_BACKUP_RETENTION_DAYS: '7' },
    ({ TOOL_STATE_BACKUP }) => TOOL_STATE_BACKUP !== true,
    without('TOOL_STATE_BACKUP=true'),
  ],
  [{ TOOL_STATE_REDIS_PREFIX: 'tool_state', TOOL_STATE_REDIS_DB: '' }, hasNoRedis, without('TOOL_STATE_REDIS_URL')],
  [
    {
      TOOL_STATE_FORMAT: 'json',
      TOOL_STATE_PATH: '',
      TOOL_STATE_MAX_PER_SESSION: '10',
      TOOL_STATE_SESSION_TIMEOUT_MS: '3600000',
    },
    isShared,
    'has no effect where processes share DATABASE_URL: only `distributed` stores states there; leave this out',
  ],
  [
    { TOOL_STATE_SYNC_ON_CHANGE: 'true', TOOL_STATE_SYNC_INTERVAL_MS: '60000' },
    (values) => isShared(values) && hasNoRedis(values),
    without('TOOL_STATE_REDIS_URL'),
  ],
];

/** Errors between the variables of tool state; a variable without effect is an error. */
export function toolStateMistakes(values: Values, given: Given): string[] {
  const idle = IDLE.filter(([, isIdle]) => isIdle(values)).flatMap(([names, , why]) =>
    (Object.keys(names) as EnvName[])
      .filter((name) => given[name] && given[name] !== names[name])
      .map((name) => mistakeLine(name, given[name]!, why)),
  );
  const { TOOL_STATE_MANAGER: manager } = values;
  if (manager === undefined || manager === 'distributed' || !isShared(values)) return idle;
  const fault = 'serves one process only, and DATABASE_URL is shared by many: use `distributed`, or leave it out';
  return [...idle, mistakeLine('TOOL_STATE_MANAGER', manager, fault)];
}

function isShared({ DATABASE_URL, REDIS_URL }: Values): boolean {
  return isCluster({ DATABASE_URL, REDIS_URL });
}

function hasNoRedis({ TOOL_STATE_REDIS_URL }: Values): boolean {
  return TOOL_STATE_REDIS_URL === undefined;
}

function without(what: string): string {
  return `has no effect without ${what}: set that, or leave this out`;
}
