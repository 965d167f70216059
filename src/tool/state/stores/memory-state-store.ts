import type { ContextFilter, StateHistoryEntry } from '../tool-state.types.js';
import { StateStore, type ContextWrite, type StoredContext, type StoredVersion } from './state-store.js';

interface Kept {
  context: StoredContext;
  versions: StoredVersion[];
  history: StateHistoryEntry[];
}

/** Contexts in this process; they end with it. */
export class MemoryStateStore extends StateStore {
  private readonly kept = new Map<string, Kept>();

  async load(id: string): Promise<StoredContext | null> {
    return this.kept.get(id)?.context ?? null;
  }

  async write({ context, version, oldestVersion, history, oldestHistory }: ContextWrite): Promise<boolean> {
    const kept = this.kept.get(context.id);
    if ((kept?.context.revision ?? 0) !== context.revision - 1) return false;
    if (!kept) {
      this.kept.set(context.id, { context, versions: version ? [version] : [], history: [...history] });
      return true;
    }
    kept.context = context;
    if (version) kept.versions.push(version);
    drop(kept.versions, (one) => one.version < oldestVersion);
    kept.history.push(...history);
    drop(kept.history, ({ n }) => n < oldestHistory);
    return true;
  }

  async versions(id: string): Promise<StoredVersion[]> {
    return (this.kept.get(id)?.versions ?? []).toReversed();
  }

  async history(id: string, limit: number, before = Number.POSITIVE_INFINITY): Promise<StateHistoryEntry[]> {
    const history = this.kept.get(id)?.history ?? [];
    return history
      .filter(({ n }) => n < before)
      .slice(-limit)
      .toReversed();
  }

  async remove(id: string): Promise<boolean> {
    return this.kept.delete(id);
  }

  async list({ tenant, tool, session, after = '', limit }: ContextFilter): Promise<string[]> {
    const found = [...this.kept.values()].filter(
      ({ context }) =>
        context.tenant === tenant &&
        context.id > after &&
        (tool === undefined || context.tool === tool) &&
        (session === undefined || context.session === session),
    );
    return found
      .map(({ context }) => context.id)
      .toSorted()
      .slice(0, limit);
  }

  async expired(now: number, limit: number): Promise<string[]> {
    const ids: string[] = [];
    for (const { context } of this.kept.values()) {
      if (context.expiresAt !== null && context.expiresAt <= now) ids.push(context.id);
      if (ids.length === limit) break;
    }
    return ids;
  }

  async close(): Promise<void> {}
}

/** Takes away what comes first of a list and is too old. */
function drop<T>(list: T[], isOld: (one: T) => boolean): void {
  const fresh = list.findIndex((one) => !isOld(one));
  if (fresh !== 0) list.splice(0, fresh === -1 ? list.length : fresh);
}
