/** Actions that the log of the server reports too. `refuse`: an answer 401 or 403. */
export const REPORTED_ACTIONS = [
  'refuse',
  'import',
  'approve',
  'deny',
  'input',
  'settle',
  'release',
  'create',
  'revoke',
  'erase',
  'enable',
  'disable',
] as const;

/** Kind of access. */
export type AccessAction = 'read' | 'export' | 'fork' | 'call' | 'rollback' | (typeof REPORTED_ACTIONS)[number];

/** Kind of the accessed resource. `sessions` and `runs` are lists, which have no id. */
export const ACCESS_TARGETS = [
  'session',
  'session.messages',
  'sessions',
  'run',
  'run.events',
  'run.journal',
  'run.file',
  'runs',
  'eval',
  'evals',
  'tool',
  'tool-state',
  'tool-states',
  'mcp-server',
  'key',
  'webhook',
  'schedule',
  'schedules',
  'approval',
  'route',
  'user',
  'tenant',
] as const;
export type AccessTarget = (typeof ACCESS_TARGETS)[number];

/** One access. */
export interface AccessEntry {
  readonly id: string;
  readonly tenant: string;
  /** Epoch ms. */
  readonly at: number;
  /** Id of the caller. */
  readonly principal: string;
  readonly action: AccessAction;
  readonly targetKind: AccessTarget;
  /** Empty for a list. */
  readonly targetId: string;
}

/** Filter of a listing; absent fields match everything. */
export interface AccessFilter {
  readonly principal?: string;
  readonly targetKind?: AccessTarget;
  readonly targetId?: string;
  /** At this time or later, epoch ms. */
  readonly from?: number;
  /** Before this time, epoch ms. */
  readonly to?: number;
}
