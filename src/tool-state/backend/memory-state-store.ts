import type { ContextFilter, ContextKey, StateHistoryEntry } from '../tool-state.types.js';
import { ContextIndex } from './context-index.js';
import { applyWrite, historyOf, type ContextRecord } from './context-record.js';
import { StateStore, type ContextWrite, type StoredContext, type StoredVersion } from './state-store.js';

/** Stores contexts in memory; they end with the process. */
export class MemoryStateStore extends StateStore {
  private readonly records = new Map<string, ContextRecord>();
  private readonly index = new ContextIndex();

  async load(id: string): Promise<StoredContext | null> {
    return this.records.get(id)?.context ?? null;
  }

  async keyOf(id: string): Promise<ContextKey | null> {
    return this.index.keyOf(id);
  }

  async write(write: ContextWrite): Promise<boolean> {
    const { id } = write.context;
    const { history } = write;
    const before = this.records.get(id) ?? null;
    // States are immutable texts; history details are the caller's objects and need a copy.
    const record = applyWrite(before, history.length > 0 ? { ...write, history: structuredClone(history) } : write);
    if (!record) return false;
    if (!before) this.records.set(id, record);
    this.index.put(write.context);
    return true;
  }

  async versions(id: string): Promise<StoredVersion[]> {
    return this.records.get(id)?.versions.toReversed() ?? [];
  }

  async history(id: string, limit: number, before?: number): Promise<StateHistoryEntry[]> {
    const record = this.records.get(id);
    return record ? structuredClone(historyOf(record, limit, before)) : [];
  }

  async remove(id: string, revision?: number): Promise<boolean> {
    const record = this.records.get(id);
    if (!record || (revision !== undefined && record.context.revision !== revision)) return false;
    this.index.remove(id);
    return this.records.delete(id);
  }

  async list(filter: ContextFilter): Promise<string[]> {
    return this.index.list(filter, Date.now());
  }

  async expired(now: number, limit: number): Promise<string[]> {
    return this.index.expired(now, limit);
  }

  async tenants(): Promise<string[]> {
    return this.index.tenants();
  }

  async close(): Promise<void> {}
}
