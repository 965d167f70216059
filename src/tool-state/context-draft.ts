import { type DataFact, mergeFacts } from '../run/facts/index.js';
import { contextIdOf } from './context-id.factory.js';
import { asideIn, toChangedEntry, toEntry, toJson, type KeptAside } from './state-entry.mapper.js';
import type { ContextWrite, StoredContext, StoredState, StoredVersion } from './backend/state-store.js';
import { stateConflict, stateTooLarge } from './tool-state.error.js';
import type { ContextKey, StateEntry, StateHistoryEntry, StatePolicy, StateType } from './tool-state.types.js';
import type { StateData } from '../tool/stateful/index.js';

export interface PutOptions {
  readonly ttlMs?: number | undefined;
  readonly basedOn?: number | undefined;
  readonly by?: string | null | undefined;
  /** Version number of a restored state; default: the last version plus 1. */
  readonly version?: number | undefined;
  /** Keys changed in the data; default: all. */
  readonly keys?: readonly string[] | undefined;
}

const NOTHING: StateData = Object.freeze({});
const NOTHING_ASIDE: KeptAside = { held: NOTHING, users: [], facts: [] };

/** The next form of a context; the stored context stays unchanged. */
export class ContextDraft {
  readonly id: string;
  private readonly states: Partial<Record<StateType, StoredState>>;
  private readonly changed: StateType[] = [];
  private readonly history: StateHistoryEntry[] = [];
  private version: StoredVersion | undefined;
  private oldestVersion = 0;
  private change: number;
  private holding: StateData | undefined;
  private tookPart: readonly string[] | undefined;
  private learned: readonly DataFact[] | undefined;
  private found: KeptAside | undefined;

  /**
   * @param stored the stored, unexpired context; `null` if absent
   * @param now epoch ms
   * @param isOfRun whether a new context is run-scoped
   */
  constructor(
    private readonly stored: StoredContext | null,
    readonly key: ContextKey,
    private readonly policy: StatePolicy,
    private readonly now: number,
    private readonly isOfRun = false,
  ) {
    this.id = stored?.id ?? contextIdOf(key);
    this.states = { ...stored?.states };
    this.change = Number(stored?.lastChange ?? 0);
  }

  /** Number of the last applied outbox change; 0 before the first. */
  get lastChange(): number {
    return this.change;
  }

  get isNew(): boolean {
    return this.stored === null;
  }

  /** Hidden data of the connection state, such as cookies. */
  get held(): StateData {
    const connection = this.stored?.states.connection;
    return (this.holding ??= connection && isLive(connection, this.now) ? this.aside.held : NOTHING);
  }

  /** Principal ids of all callers, stored in the hidden data of the connection state. */
  get users(): readonly string[] {
    // Independent of the connection's expiry: the users' data may outlive it.
    return this.tookPart ?? this.aside.users;
  }

  /** Adds a user; stored with the next change of the connection state. */
  remember(user: string): void {
    if (!this.users.includes(user)) this.tookPart = [...this.users, user];
  }

  /** Adds the writer of a change outside of a call, together with the connection state. */
  rememberWriter(user: string | undefined): void {
    if (user === undefined) return;
    this.remember(user);
    const before = this.get('connection')?.data;
    this.put('connection', { ...before, created_at: before?.['created_at'] ?? this.now, last_activity: this.now });
  }

  /** Facts of the data in the context; like the users, independent of the connection's expiry. */
  get facts(): readonly DataFact[] {
    return this.learned ?? this.aside.facts;
  }

  /** Adds facts; stored with the next change of the connection state. */
  addFacts(facts: readonly DataFact[]): void {
    this.learned = mergeFacts(this.facts, facts);
  }

  /**
   * Merges entries into the connection's hidden data, stored with the next change of its state; `null` deletes an
   * entry.
   */
  hold(changes: StateData): void {
    const kept = laidOver(this.held, changes);
    this.holding = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== null));
  }

  get(type: StateType): StateEntry | null {
    const state = this.states[type];
    return state && isLive(state, this.now) ? toEntry(this.id, type, state) : null;
  }

  /** As `get`, but parses the data lazily. */
  changedEntry(type: StateType): StateEntry | null {
    const state = this.states[type];
    return state && isLive(state, this.now) ? toChangedEntry(this.id, type, state) : null;
  }

  /** 0 for an absent state. */
  versionOf(type: StateType): number {
    const state = this.states[type];
    return state && isLive(state, this.now) ? state.version : 0;
  }

  /** @throws AppError `TOOL_STATE_TOO_LARGE`, `TOOL_STATE_CONFLICT` */
  put(type: StateType, data: StateData, { basedOn, keys, ...options }: PutOptions = {}): void {
    const version = this.versionOf(type);
    if (basedOn === undefined || basedOn === version) return this.replace(type, data, options);
    switch (this.policy.conflict) {
      case 'last_write_wins':
        return this.replace(type, data, options);
      case 'first_write_wins':
        return;
      case 'merge':
        return this.replace(type, laidOver(this.get(type)?.data ?? {}, data, keys), options);
      case 'error':
        throw stateConflict(this.key, type, basedOn, version);
    }
  }

  /** Returns whether the state existed. */
  drop(type: StateType): boolean {
    const isThere = this.versionOf(type) > 0;
    if (this.states[type]) this.touch(type);
    // Version numbers restart with the next state.
    if (type === 'business') {
      this.oldestVersion = (this.states[type]?.version ?? 0) + 1;
      this.version = undefined;
    }
    delete this.states[type];
    return isThere;
  }

  note(kind: StateHistoryEntry['kind'], by: string | null, detail: StateData, at = this.now): void {
    if (this.policy.maxHistory > 0) this.history.push({ n: this.lastHistory + 1, at, kind, by, detail });
  }

  /** Records that an outbox change was applied. */
  carry(change: number): void {
    this.change = change;
  }

  toWrite(): ContextWrite {
    const { maxHistory } = this.policy;
    return {
      context: this.next(),
      changed: [...this.changed],
      version: this.version,
      oldestVersion: this.oldestVersion,
      history: this.history.slice(-maxHistory || undefined),
      oldestHistory: this.history.length > 0 ? Math.max(0, this.lastHistory - maxHistory + 1) : 0,
    };
  }

  private next(): StoredContext {
    const { tenant, session, tool } = this.key;
    return {
      tenant,
      session,
      tool,
      id: this.id,
      revision: (this.stored?.revision ?? 0) + 1,
      createdAt: this.stored?.createdAt ?? this.now,
      usedAt: this.now,
      expiresAt: this.expiresAt(),
      isOfRun: this.stored?.isOfRun ?? this.isOfRun,
      lastHistory: this.lastHistory,
      lastChange: this.change === 0 ? null : String(this.change),
      states: this.states,
    };
  }

  private get aside(): KeptAside {
    const connection = this.stored?.states.connection;
    return (this.found ??= connection ? asideIn(connection) : NOTHING_ASIDE);
  }

  private get lastHistory(): number {
    return this.history.at(-1)?.n ?? this.stored?.lastHistory ?? 0;
  }

  private replace(type: StateType, data: StateData, { ttlMs, by = null, version }: PutOptions): void {
    const json = this.jsonOf(type, data);
    const old = this.stored?.states[type];
    const state: StoredState = {
      json,
      version: version ?? (old?.version ?? 0) + 1,
      createdAt: old && isLive(old, this.now) ? old.createdAt : this.now,
      updatedAt: this.now,
      expiresAt: expiryAt(this.now, ttlMs ?? this.policy.ttlMs),
    };
    this.touch(type);
    this.states[type] = state;
    if (type === 'business') this.keep({ version: state.version, json, at: this.now, by });
  }

  private touch(type: StateType): void {
    if (!this.changed.includes(type)) this.changed.push(type);
  }

  /** @throws AppError `TOOL_STATE_TOO_LARGE` */
  private jsonOf(type: StateType, data: StateData): string {
    // No size limit: the tool does not write this state.
    if (type === 'connection') return toJson(data, { held: this.held, users: this.users, facts: this.facts });
    const json = toJson(data);
    const { maxStateBytes } = this.policy;
    const bytes = Buffer.byteLength(json);
    if (bytes > maxStateBytes) throw stateTooLarge(this.key, type, bytes, maxStateBytes);
    return json;
  }

  private keep(version: StoredVersion): void {
    const { maxVersions } = this.policy;
    if (maxVersions === 0) return;
    this.version = version;
    this.oldestVersion = Math.max(this.oldestVersion, version.version - maxVersions + 1);
  }

  private expiresAt(): number | null {
    const { idleMs } = this.policy;
    const byState = this.lastExpiry();
    const byUse = idleMs === null ? null : this.now + idleMs;
    if (byState === null || byUse === null) return byState ?? byUse;
    return Math.min(byState, byUse);
  }

  /**
   * Time after which no state can exist, including states with the default time to live. `null`: unknown, or a state
   * without expiry.
   */
  private lastExpiry(): number | null {
    const { ttlMs } = this.policy;
    let last = ttlMs === null ? 0 : this.now + ttlMs;
    for (const { expiresAt } of Object.values(this.states)) {
      if (expiresAt === null) return null;
      last = Math.max(last, expiresAt);
    }
    return last === 0 ? null : last;
  }
}

function laidOver(under: StateData, over: StateData, keys: readonly string[] = Object.keys(over)): StateData {
  const kept = Object.entries(under).filter(([key]) => !keys.includes(key));
  return Object.fromEntries([...kept, ...Object.entries(over).filter(([key]) => keys.includes(key))]);
}

function expiryAt(now: number, lifetimeMs: number | null): number | null {
  return lifetimeMs === null ? null : now + lifetimeMs;
}

export function isLive({ expiresAt }: { readonly expiresAt: number | null }, now: number): boolean {
  return expiresAt === null || expiresAt > now;
}
