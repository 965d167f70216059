import { AppError, messageOf } from '../../errors/index.js';
import type { ContextFilter, ContextKey, StateHistoryEntry } from '../tool-state.types.js';
import { type ContextWrite, StateStore, type StoredContext, type StoredVersion } from './state-store.js';

/** @param what subject of the message, with an article: `The Redis` */
export function storeUnavailable(what: string, cause: unknown): AppError {
  return new AppError(
    'TOOL_STATE_UNAVAILABLE',
    `${what} that stores the states of tools is unavailable: ${messageOf(cause)}. The last change may or may not be stored; make sure that it is available, then try again.`,
    { isRetryable: true, cause },
  );
}

/** @param how the damage, without a full stop */
export function stateFileDamaged(path: string, how: string, cause?: unknown): AppError {
  return new AppError(
    'TOOL_STATE_UNAVAILABLE',
    `The file ${path} of a tool's state cannot be read: ${how}. Mend it or move it away; until then the state is neither read nor written.`,
    { cause, details: { file: path } },
  );
}

/** An application's own store: its errors become `TOOL_STATE_UNAVAILABLE`, so that changes are retried. */
export class GuardedStateStore extends StateStore {
  /** @param manager name of its state manager, for errors */
  constructor(
    private readonly manager: string,
    private readonly store: StateStore,
  ) {
    super();
  }

  load(id: string): Promise<StoredContext | null> {
    return this.ask(() => this.store.load(id));
  }

  keyOf(id: string): Promise<ContextKey | null> {
    return this.ask(() => this.store.keyOf(id));
  }

  write(write: ContextWrite): Promise<boolean> {
    return this.ask(() => this.store.write(write));
  }

  versions(id: string): Promise<StoredVersion[]> {
    return this.ask(() => this.store.versions(id));
  }

  history(id: string, limit: number, before?: number): Promise<StateHistoryEntry[]> {
    return this.ask(() => this.store.history(id, limit, before));
  }

  remove(id: string, revision?: number): Promise<boolean> {
    return this.ask(() => this.store.remove(id, revision));
  }

  list(filter: ContextFilter): Promise<string[]> {
    return this.ask(() => this.store.list(filter));
  }

  expired(now: number, limit: number): Promise<string[]> {
    return this.ask(() => this.store.expired(now, limit));
  }

  tenants(): Promise<string[]> {
    return this.ask(() => this.store.tenants());
  }

  override purge(): Promise<void> {
    return this.ask(() => this.store.purge());
  }

  close(): Promise<void> {
    return this.store.close();
  }

  private async ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw storeUnavailable(`The store of the state manager "${this.manager}"`, error);
    }
  }
}
