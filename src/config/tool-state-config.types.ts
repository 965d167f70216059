/** Defaults of tool state; a tool may override them. */
export interface ToolStateConfig {
  readonly manager: 'memory' | 'persistent' | 'session' | 'distributed';
  /** Lifetime after a state's last change; `null` means no limit. */
  readonly ttlMs: number | null;
  /** `null`: expired states remain until they are accessed. */
  readonly cleanupIntervalMs: number | null;
  readonly format: 'json' | 'sqlite';
  /** A folder; `null` for the journal's database. */
  readonly path: string | null;
  readonly isCompressed: boolean;
  /** Without a URL, the journal's database is used. */
  readonly redis: { readonly url?: string; readonly prefix: string; readonly db?: number };
  readonly maxPerSession: number;
  readonly sessionTimeoutMs: number;
  readonly maxBytes: number;
  readonly maxHistory: number;
  readonly maxVersions: number;
  readonly conflict: 'last_write_wins' | 'first_write_wins' | 'merge' | 'error';
  readonly isSavedAlone: boolean;
  readonly sync: { readonly isOnChange: boolean; readonly intervalMs: number };
  /** `null` disables backups. */
  readonly backup: { readonly intervalMs: number; readonly keptDays: number } | null;
}
