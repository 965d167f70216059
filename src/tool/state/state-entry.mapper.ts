import { type JsonValue, parseExactJson } from '../../common/index.js';
import type { StoredState } from './stores/state-store.js';
import { stateDamaged } from './tool-state.error.js';
import type { StateData, StateEntry, StateType } from './tool-state.types.js';

/** Under which keys of the stored connection state stand what it holds, and who has had a part in the context. */
const HELD = '$held';
const USERS = '$users';

/** What a connection keeps to itself: nobody is shown it. */
export interface KeptAside {
  readonly held: StateData;
  /** The ids of principals. */
  readonly users: readonly string[];
}

const DATA = {
  enumerable: true,
  get(this: ChangedEntry): StateData {
    return this.read();
  },
};

/** A state as it is after a change. Its data are read when somebody looks at them: who sets a state seldom does. */
class ChangedEntry implements StateEntry {
  readonly id: string;
  declare readonly data: StateData;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly expiresAt: number | null;
  readonly #json: string;
  #data: StateData | undefined;

  constructor(
    readonly contextId: string,
    readonly type: StateType,
    { json, version, createdAt, updatedAt, expiresAt }: StoredState,
  ) {
    this.id = idOf(contextId, type);
    // Of the entry itself, so that a copy of it has them too.
    Object.defineProperty(this, 'data', DATA);
    this.version = version;
    this.createdAt = createdAt;
    this.updatedAt = updatedAt;
    this.expiresAt = expiresAt;
    this.#json = json;
  }

  read(): StateData {
    return (this.#data ??= dataIn(this.type, this.#json));
  }
}

/** A state as it was found. */
export function toEntry(contextId: string, type: StateType, state: StoredState): StateEntry {
  const { json, version, createdAt, updatedAt, expiresAt } = state;
  const data = dataIn(type, json);
  return { id: idOf(contextId, type), contextId, type, data, version, createdAt, updatedAt, expiresAt };
}

/** As `toEntry`, for one who may want no more than to have changed it. */
export function toChangedEntry(contextId: string, type: StateType, state: StoredState): StateEntry {
  return new ChangedEntry(contextId, type, state);
}

/** As a state is stored. @param aside what a connection keeps to itself */
export function toJson(data: StateData, aside?: KeptAside): string {
  if (!aside) return JSON.stringify(data);
  const { held, users } = aside;
  return JSON.stringify({
    ...data,
    ...(Object.keys(held).length > 0 && { [HELD]: held }),
    ...(users.length > 0 && { [USERS]: users }),
  });
}

/** What a connection keeps to itself. */
export function asideIn({ json }: StoredState): KeptAside {
  const { [HELD]: held = {}, [USERS]: users = [] } = parse(json);
  return { held: held as StateData, users: users as readonly string[] };
}

/** What is shown of it, its keys in their order. */
function dataIn(type: StateType, json: string): StateData {
  const data = parse(json);
  if (type !== 'connection') return data;
  delete data[HELD];
  delete data[USERS];
  return data;
}

/** @throws AppError `TOOL_STATE_UNAVAILABLE` */
function parse(json: string): Record<string, JsonValue> {
  try {
    return parseExactJson(json) as Record<string, JsonValue>;
  } catch (error) {
    throw stateDamaged(error);
  }
}

function idOf(contextId: string, type: StateType): string {
  return `${contextId}:${type}`;
}
