import { type JsonValue, parseExactJson } from '../kernel/json/index.js';
import type { DataFact } from '../run/facts/index.js';
import type { StoredState } from './backend/state-store.js';
import { stateDamaged } from './tool-state.error.js';
import type { StateEntry, StateType } from './tool-state.types.js';
import type { StateData } from '../tool/stateful/index.js';

/** Keys of the stored connection state with its hidden data: held data and users. */
const HELD = '$held';
const USERS = '$users';
const FACTS = '$facts';

/** Hidden data of a connection state, never displayed. */
export interface KeptAside {
  readonly held: StateData;
  /** Principal ids of the users whose calls contributed to the context. */
  readonly users: readonly string[];
  /** Facts of the data in the runs whose calls contributed to the context. */
  readonly facts: readonly DataFact[];
}

const DATA = {
  enumerable: true,
  get(this: ChangedEntry): StateData {
    return this.read();
  },
};

/** A state after a change. Parses its data lazily, since most writers do not read them. */
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
    // An own property, so that object spread copies it.
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

/** Entry of a stored state. */
export function toEntry(contextId: string, type: StateType, state: StoredState): StateEntry {
  const { json, version, createdAt, updatedAt, expiresAt } = state;
  const data = dataIn(type, json);
  return { id: idOf(contextId, type), contextId, type, data, version, createdAt, updatedAt, expiresAt };
}

/** As `toEntry`, but parses the data lazily. */
export function toChangedEntry(contextId: string, type: StateType, state: StoredState): StateEntry {
  return new ChangedEntry(contextId, type, state);
}

/** Stored JSON of a state. @param aside hidden data of a connection state */
export function toJson(data: StateData, aside?: KeptAside): string {
  if (!aside) return JSON.stringify(data);
  const { held, users, facts } = aside;
  return JSON.stringify({
    ...data,
    ...(Object.keys(held).length > 0 && { [HELD]: held }),
    ...(users.length > 0 && { [USERS]: users }),
    ...(facts.length > 0 && { [FACTS]: facts }),
  });
}

/** Hidden data of a connection state. */
export function asideIn({ json }: StoredState): KeptAside {
  const { [HELD]: held = {}, [USERS]: users = [], [FACTS]: facts = [] } = parse(json);
  return {
    held: held as StateData,
    users: users as readonly string[],
    facts: facts as unknown as readonly DataFact[],
  };
}

/** Visible data, with the order of keys preserved. */
function dataIn(type: StateType, json: string): StateData {
  const data = parse(json);
  if (type !== 'connection') return data;
  delete data[HELD];
  delete data[USERS];
  delete data[FACTS];
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
