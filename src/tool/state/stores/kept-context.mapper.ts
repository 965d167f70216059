import type { StateHistoryEntry, StateType } from '../tool-state.types.js';
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
  let count = 0;
  while (count < list.length && isOld(list[count]!)) count++;
  if (count > 0) list.splice(0, count);
}

/** What makes a context that is not there what it was: a write for each of its versions, the last one with all else. */
export function writesOf({ context, versions, history }: KeptContext): ContextWrite[] {
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
