import type { StateHistoryEntry, StateType } from '../tool-state.types.js';
import type { ContextWrite, StoredContext, StoredVersion } from './state-store.js';

/** A context with its versions and history, oldest first. */
export interface ContextRecord {
  context: StoredContext;
  readonly versions: StoredVersion[];
  readonly history: StateHistoryEntry[];
}

/** Applies a write in place. Returns `null` without a change if the write is based on another revision. */
export function applyWrite(record: ContextRecord | null, write: ContextWrite): ContextRecord | null {
  const { context, version, oldestVersion, history, oldestHistory } = write;
  if ((record?.context.revision ?? 0) !== context.revision - 1) return null;
  if (!record) return { context, versions: version ? [version] : [], history: [...history] };
  record.context = context;
  if (version) record.versions.push(version);
  drop(record.versions, (one) => one.version < oldestVersion);
  if (history.length > 0) record.history.push(...history);
  drop(record.history, ({ n }) => n < oldestHistory);
  return record;
}

/** Newest first. */
export function historyOf({ history }: ContextRecord, limit: number, before = Infinity): StateHistoryEntry[] {
  const meant = history.filter(({ n }) => n < before);
  return meant.toReversed().slice(0, limit);
}

/** Removes the leading old entries of a list. */
function drop<T>(list: T[], isOld: (one: T) => boolean): void {
  let count = 0;
  while (count < list.length && isOld(list[count]!)) count++;
  if (count > 0) list.splice(0, count);
}

/** Writes that recreate an absent context: one per version; the last one also restores everything else. */
export function writesOf({ context, versions, history }: ContextRecord): ContextWrite[] {
  const earlier = versions.slice(0, -1).map((version, at): ContextWrite => ({
    context: { ...context, revision: at + 1, states: {} },
    changed: [],
    version,
    oldestVersion: 0,
    history: [],
    oldestHistory: 0,
  }));
  const version = versions.at(-1);
  const last: ContextWrite = {
    context: { ...context, revision: earlier.length + 1 },
    changed: Object.keys(context.states) as StateType[],
    ...(version && { version }),
    oldestVersion: 0,
    history,
    oldestHistory: 0,
  };
  return [...earlier, last];
}
