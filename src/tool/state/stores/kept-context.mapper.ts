import type { StateHistoryEntry } from '../tool-state.types.js';
import type { ContextWrite, StoredContext, StoredVersion } from './state-store.js';

/** A context with all that is kept of it, the oldest first. */
export interface KeptContext {
  context: StoredContext;
  readonly versions: StoredVersion[];
  readonly history: StateHistoryEntry[];
}

/** Changes what is kept. Gives `null`, and has changed nothing, when the write was made on another revision. */
export function applyWrite(kept: KeptContext | null, write: ContextWrite): KeptContext | null {
  const { context, version, oldestVersion, history, oldestHistory } = write;
  if ((kept?.context.revision ?? 0) !== context.revision - 1) return null;
  if (!kept) return { context, versions: version ? [version] : [], history: [...history] };
  kept.context = context;
  if (version) kept.versions.push(version);
  drop(kept.versions, (one) => one.version < oldestVersion);
  if (history.length > 0) kept.history.push(...history);
  drop(kept.history, ({ n }) => n < oldestHistory);
  return kept;
}

/** The last first. */
export function historyOf({ history }: KeptContext, limit: number, before = Infinity): StateHistoryEntry[] {
  const meant = history.filter(({ n }) => n < before);
  return meant.toReversed().slice(0, limit);
}

/** Takes away what comes first of a list and is too old. */
function drop<T>(list: T[], isOld: (one: T) => boolean): void {
  const fresh = list.findIndex((one) => !isOld(one));
  if (fresh !== 0) list.splice(0, fresh === -1 ? list.length : fresh);
}
