import type { JsonValue } from '../../common/index.js';
import type { StoredState } from './stores/state-store.js';
import type { StateData, StateEntry, StateType } from './tool-state.types.js';

/** Under which key of the stored connection state stands what it holds. */
const HELD = '$held';

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

/** As a state is stored. @param held what a connection keeps to itself */
export function toJson(data: StateData, held?: StateData): string {
  return JSON.stringify(held && Object.keys(held).length > 0 ? { ...data, [HELD]: held } : data);
}

/** What a connection keeps to itself. */
export function heldIn({ json }: StoredState): StateData {
  return ((JSON.parse(json) as StateData)[HELD] ?? {}) as StateData;
}

/** What is shown of it, its keys in their order. */
function dataIn(type: StateType, json: string): StateData {
  const data = JSON.parse(json) as Record<string, JsonValue>;
  if (type === 'connection') delete data[HELD];
  return data;
}

function idOf(contextId: string, type: StateType): string {
  return `${contextId}:${type}`;
}
