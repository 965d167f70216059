import { isCluster } from './cluster.policy.js';
import { mistakeLine } from './config-invalid.error.js';
import type { EnvName, EnvValues } from './env.schema.js';

type Given = Readonly<Partial<Record<EnvName, string>>>;

/** Variables that say nothing without another one, with their defaults, and what that must be. */
const NEEDS: readonly (readonly [names: Given, isThere: (values: Partial<EnvValues>) => boolean, what: string])[] = [
  [
    { TOOL_STATE_CLEANUP_INTERVAL_MS: '300000' },
    ({ TOOL_STATE_CLEANUP }) => TOOL_STATE_CLEANUP !== false,
    'TOOL_STATE_CLEANUP',
  ],
  [
    { TOOL_STATE_BACKUP_INTERVAL_MS: '3600000', TOOL_STATE_BACKUP_RETENTION_DAYS: '7' },
    ({ TOOL_STATE_BACKUP }) => TOOL_STATE_BACKUP === true,
    'TOOL_STATE_BACKUP=true',
  ],
  [
    { TOOL_STATE_REDIS_PREFIX: 'tool_state', TOOL_STATE_REDIS_DB: '' },
    ({ TOOL_STATE_REDIS_URL }) => TOOL_STATE_REDIS_URL !== undefined,
    'TOOL_STATE_REDIS_URL',
  ],
];

/** What is wrong with the variables of tools' states together: one that would have no effect is a mistake. */
export function toolStateMistakes(values: Readonly<Partial<EnvValues>>, given: Given): string[] {
  const idle = NEEDS.filter(([, isThere]) => !isThere(values)).flatMap(([names, , what]) =>
    (Object.keys(names) as EnvName[])
      .filter((name) => given[name] && given[name] !== names[name])
      .map((name) => mistakeLine(name, given[name]!, `has no effect without ${what}: set that, or leave this out`)),
  );
  const { TOOL_STATE_MANAGER: manager, DATABASE_URL, REDIS_URL } = values;
  if (manager === undefined || manager === 'distributed' || !isCluster({ DATABASE_URL, REDIS_URL })) return idle;
  const fault = 'is of one process, and DATABASE_URL is shared by many: use `distributed`, or leave it out';
  return [...idle, mistakeLine('TOOL_STATE_MANAGER', manager, fault)];
}
