import { parseExactJson } from '../kernel/json/index.js';
import { setTimeout as pause } from 'node:timers/promises';
import type { KeyedQueue } from '../persistence/index.js';
import { ContextClosings } from './context-closings.js';
import { ContextDraft, isLive } from './context-draft.js';
import { contextIdOf } from './context-id.factory.js';
import { assertChanges, type StateData, toStateData } from '../tool/stateful/index.js';
import { toEntry } from './state-entry.mapper.js';
import type { StateStore, StoredContext, StoredVersion } from './backend/state-store.js';
import { ToolStateManager, type SetStateOptions, type StateUpdate } from './tool-state-manager.js';
import { contended, contextNotFound, isDamage, tooManyContexts, versionNotFound } from './tool-state.error.js';
import type {
  ContextFilter,
  ContextInfo,
  ContextKey,
  StateEntry,
  StateHistoryEntry,
  StatePolicy,
  StateType,
  StateVersion,
} from './tool-state.types.js';

/** Maximum attempts of a contended write, with random pauses that grow to `MAX_PAUSE_MS`. */
const MOST_TRIES = 200;
const MAX_PAUSE_MS = 30;

/** Initial data of a new context. */
export interface ContextOrigin {
  readonly key: ContextKey;
  /** Whether the context is run-scoped: deleted at the end of the run that creates it. */
  readonly isOfRun: boolean;
}

/** Common implementation of all managers, over a store. */
export class StoredStateManager extends ToolStateManager {
  /**
   * @param name shown in contexts' metadata
   * @param queue shared by all managers of the store
   * @param closings receive contexts that are cleaned up or expired
   */
  constructor(
    readonly name: string,
    private readonly store: StateStore,
    private readonly policy: StatePolicy,
    private readonly queue: KeyedQueue,
    private readonly closings: ContextClosings,
  ) {
    super();
  }

  async createContext(key: ContextKey): Promise<string> {
    const id = contextIdOf(key);
    if (await this.load(id)) return id;
    await this.edit(id, (draft) => draft.id, { key, isOfRun: false });
    return id;
  }

  async getState(contextId: string, type: StateType): Promise<StateEntry | null> {
    const state = (await this.load(contextId))?.states[type];
    return state && isLive(state, Date.now()) ? toEntry(contextId, type, state) : null;
  }

  setState(contextId: string, type: StateType, data: StateData, options?: SetStateOptions): Promise<StateEntry> {
    return this.edit(contextId, (draft) => {
      draft.put(type, toStateData(data), options);
      draft.rememberWriter(options?.user);
      return draft.changedEntry(type)!;
    });
  }

  updateState(
    contextId: string,
    type: StateType,
    updates: StateUpdate,
    options?: SetStateOptions,
  ): Promise<StateEntry> {
    return this.edit(contextId, (draft) => {
      const data = draft.get(type)?.data ?? {};
      const changes = typeof updates === 'function' ? updates(data) : updates;
      assertChanges(changes);
      draft.put(type, toStateData({ ...data, ...changes }), options);
      draft.rememberWriter(options?.user);
      return draft.changedEntry(type)!;
    });
  }

  async deleteState(contextId: string, type: StateType): Promise<boolean> {
    const stored = await this.load(contextId);
    if (!stored?.states[type]) return false;
    return this.edit(contextId, (draft) => draft.drop(type));
  }

  async cleanupContext(contextId: string): Promise<boolean> {
    const isRemoved = await this.queue.next(contextId, () => this.store.remove(contextId));
    this.closings.closed(contextId);
    return isRemoved;
  }

  async listContexts(filter: ContextFilter): Promise<string[]> {
    return this.store.list(filter);
  }

  async getContextInfo(contextId: string): Promise<ContextInfo | null> {
    const stored = await this.load(contextId);
    return stored && toInfo(stored, this.name);
  }

  async getHistory(contextId: string, limit: number, before?: number): Promise<StateHistoryEntry[]> {
    return (await this.isHidden(contextId)) ? [] : this.store.history(contextId, limit, before);
  }

  async getVersions(contextId: string): Promise<StateVersion[]> {
    return (await this.isHidden(contextId)) ? [] : (await this.store.versions(contextId)).map(toVersion);
  }

  async rollback(contextId: string, version: number, by?: string): Promise<StateEntry> {
    const versions = await this.store.versions(contextId);
    const found = versions.find((one) => one.version === version);
    return this.edit(contextId, (draft) => {
      if (!found)
        throw versionNotFound(
          contextId,
          version,
          versions.map((one) => one.version),
        );
      draft.note('rollback', by ?? null, { from: draft.versionOf('business'), to: version });
      draft.put('business', toVersion(found).data, { by });
      return draft.changedEntry('business')!;
    });
  }

  close(): Promise<void> {
    return this.store.close();
  }

  /**
   * Changes a context with optimistic concurrency: retries until no other writer interferes.
   * @param origin data to create an absent context
   * @throws AppError `TOOL_STATE_NOT_FOUND` for an absent context without an origin, `TOOL_STATE_LIMIT`,
   * `TOOL_STATE_CONFLICT` after the last attempt, and errors of `change`
   */
  edit<T>(id: string, change: (draft: ContextDraft) => T, origin?: ContextOrigin): Promise<T> {
    return this.queue.next(id, () => this.change(id, change, origin));
  }

  /** `null` also for an expired context, which stays stored until a sweep or a write removes it. */
  async load(id: string): Promise<StoredContext | null> {
    const stored = await this.store.load(id);
    return stored && isLive(stored, Date.now()) ? stored : null;
  }

  /** Draft of a context to change. @throws AppError as `edit` */
  async open(id: string, origin?: ContextOrigin): Promise<ContextDraft> {
    const draft = this.draft(await this.loadToWrite(id), id, origin);
    if (draft.isNew) await this.assertRoom(draft.key);
    return draft;
  }

  /**
   * As `open`, for several drafts of one stored state. If the number of contexts is limited, a new context is created
   * now, so that a rejection precedes the call.
   */
  async drafts(id: string, origin?: ContextOrigin): Promise<() => ContextDraft> {
    let stored = await this.loadToWrite(id);
    if (!stored && this.policy.maxContextsPerSession !== null) {
      await this.edit(id, () => undefined, origin);
      stored = await this.load(id);
    }
    return () => this.draft(stored, id, origin);
  }

  private async change<T>(
    id: string,
    change: (draft: ContextDraft) => T,
    origin: ContextOrigin | undefined,
  ): Promise<T> {
    for (let tries = 1; tries <= MOST_TRIES; tries++) {
      const draft = this.draft(await this.loadToWrite(id), id, origin);
      const changed = change(draft);
      if (await this.write(draft)) return changed;
      await pause(Math.random() * Math.min(tries, MAX_PAUSE_MS));
    }
    throw contended(id);
  }

  /** If the number of contexts is limited, new contexts of a session are created one at a time. */
  private async write(draft: ContextDraft): Promise<boolean> {
    if (!draft.isNew || this.policy.maxContextsPerSession === null) return this.store.write(draft.toWrite());
    const { tenant, session } = draft.key;
    return this.queue.next(JSON.stringify([tenant, session]), async () => {
      await this.assertRoom(draft.key);
      return this.store.write(draft.toWrite());
    });
  }

  /**
   * A write first removes an expired context and then creates a new one. A context recreated by another process stays.
   */
  private async loadToWrite(id: string): Promise<StoredContext | null> {
    const stored = await this.store.load(id);
    if (!stored || isLive(stored, Date.now())) return stored;
    if (await this.store.remove(id, stored.revision)) this.closings.closed(id);
    return null;
  }

  /** Whether a context has expired. A damaged one counts as live, so that readers get its error. */
  private async isHidden(id: string): Promise<boolean> {
    try {
      const stored = await this.store.load(id);
      return stored !== null && !isLive(stored, Date.now());
    } catch (error) {
      if (isDamage(error)) return false;
      throw error;
    }
  }

  private draft(stored: StoredContext | null, id: string, origin: ContextOrigin | undefined): ContextDraft {
    const key = stored ?? origin?.key;
    if (!key) throw contextNotFound(id);
    return new ContextDraft(stored, key, this.policy, Date.now(), origin?.isOfRun);
  }

  /** @throws AppError `TOOL_STATE_LIMIT` */
  private async assertRoom(key: ContextKey): Promise<void> {
    const { maxContextsPerSession: most } = this.policy;
    if (most === null) return;
    const { tenant, session } = key;
    const others = await this.store.list({ tenant, session, limit: most });
    if (others.length >= most) throw tooManyContexts(key, most);
  }
}

function toInfo({ states, ...stored }: StoredContext, manager: string): ContextInfo {
  const { id, tenant, session, tool, createdAt, usedAt, expiresAt } = stored;
  const now = Date.now();
  const live = Object.entries(states).filter(([, state]) => isLive(state, now));
  return {
    id,
    tenant,
    session,
    tool,
    manager,
    createdAt,
    usedAt,
    expiresAt,
    // Parses the data too, so that a damaged state is reported.
    states: live.map(([type, state]) => {
      const { data: _data, contextId: _contextId, ...entry } = toEntry(id, type as StateType, state);
      return entry;
    }),
  };
}

function toVersion({ json, ...version }: StoredVersion): StateVersion {
  return { ...version, data: parseExactJson(json) as StateData };
}
