/** What was done. */
export type AccessAction = 'read' | 'export' | 'fork' | 'erase' | 'call' | 'enable' | 'disable' | 'rollback';

/** What it was done to. `sessions` and `runs` are the lists of them, which have no id. */
export const ACCESS_TARGETS = [
  'session',
  'session.messages',
  'sessions',
  'run',
  'run.events',
  'run.journal',
  'runs',
  'tool',
  'tool-state',
  'tool-states',
  'mcp-server',
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
  /** The id of who asked. */
  readonly principal: string;
  readonly action: AccessAction;
  readonly targetKind: AccessTarget;
  /** Empty when all of a kind are meant. */
  readonly targetId: string;
}

/** Which accesses are asked for; what is left out does not matter. */
export interface AccessFilter {
  readonly principal?: string;
  readonly targetKind?: AccessTarget;
  readonly targetId?: string;
  /** At this time or later, epoch ms. */
  readonly from?: number;
  /** Before this time, epoch ms. */
  readonly to?: number;
}
