/** How tools keep state, where they do not say it themselves. */
export interface ToolStateConfig {
  readonly manager: 'memory' | 'persistent' | 'session' | 'distributed';
  /** After a state's last change; `null` is for ever. */
  readonly ttlMs: number | null;
  /** `null`: expired states stay until somebody looks for them. */
  readonly cleanupIntervalMs: number | null;
  readonly format: 'json' | 'sqlite';
  /** A folder; `null` for the database of the runs. */
  readonly path: string | null;
  readonly isCompressed: boolean;
  /** Without a URL the database of the runs is shared. */
  readonly redis: { readonly url?: string; readonly prefix: string; readonly db?: number };
  readonly maxPerSession: number;
  readonly sessionTimeoutMs: number;
  readonly maxBytes: number;
  readonly maxHistory: number;
  readonly maxVersions: number;
  readonly conflict: 'last_write_wins' | 'first_write_wins' | 'merge' | 'error';
  readonly isSavedAlone: boolean;
  readonly sync: { readonly isOnChange: boolean; readonly intervalMs: number };
  /** `null`: none is made. */
  readonly backup: { readonly intervalMs: number; readonly keptDays: number } | null;
}
