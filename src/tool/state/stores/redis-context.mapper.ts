import type { StateData, StateHistoryEntry, StateType } from '../tool-state.types.js';
import { STATE_TYPES } from '../tool-state.types.js';
import type { StateCodec } from './state-codec.mapper.js';
import { historyPlace, statePlace, versionPlace, type ContextOwner } from './state-place.factory.js';
import type { ContextWrite, StoredContext, StoredState, StoredVersion } from './state-store.js';

/** Fields of a context's hash. The texts of states are fields of their own: they need not be JSON within JSON. */
export type ContextFields = Readonly<Record<string, string>>;

type Numbered = readonly (string | number)[];

const REVISION = 'revision';
const HEAD = 'head';

/** What a context is without its states. */
export type ContextHead = Omit<StoredContext, 'id' | 'revision' | 'states'>;

/** Gives `null` when there is none. */
export function readHead(text: string | null | undefined): ContextHead | null {
  return text ? (JSON.parse(text) as ContextHead) : null;
}

/** Gives `null` when there are no fields. */
export function readContext(id: string, fields: ContextFields, codec: StateCodec): StoredContext | null {
  const head = readHead(fields[HEAD]);
  if (!head) return null;
  const states: Partial<Record<StateType, StoredState>> = {};
  for (const type of STATE_TYPES) {
    const about = fields[type];
    if (about === undefined) continue;
    const state = JSON.parse(about) as Omit<StoredState, 'json'>;
    const place = statePlace({ tenant: head.tenant, id }, type, state.version);
    states[type] = { ...state, json: codec.open(fields[dataField(type)]!, place) };
  }
  return { ...head, id, revision: Number(fields[REVISION]), states };
}

/** Fields and texts that a write sets, and fields that it drops. */
export function changedFields(
  { context, changed }: ContextWrite,
  codec: StateCodec,
): { readonly set: readonly string[]; readonly dropped: readonly string[] } {
  const { id, revision, states, ...head } = context;
  const set = [REVISION, String(revision), HEAD, JSON.stringify(head)];
  const dropped: string[] = [];
  for (const type of changed) {
    const state = states[type];
    if (!state) {
      dropped.push(type, dataField(type));
      continue;
    }
    const { json, ...about } = state;
    const place = statePlace({ tenant: head.tenant, id }, type, state.version);
    set.push(type, JSON.stringify(about), dataField(type), codec.seal(json, place));
  }
  return { set, dropped };
}

/** As a member of a sorted set, with its number. */
export function writeVersion(owner: ContextOwner, version: StoredVersion, codec: StateCodec): Numbered {
  const { json, ...about } = version;
  const data = codec.seal(json, versionPlace(owner, version.version));
  return [version.version, JSON.stringify({ ...about, data })];
}

export function readVersion(owner: ContextOwner, member: string, codec: StateCodec): StoredVersion {
  const { data, ...about } = JSON.parse(member) as Omit<StoredVersion, 'json'> & { data: string };
  return { ...about, json: codec.open(data, versionPlace(owner, about.version)) };
}

export function writeEntry(owner: ContextOwner, entry: StateHistoryEntry, codec: StateCodec): Numbered {
  const detail = codec.seal(JSON.stringify(entry.detail), historyPlace(owner, entry.n));
  return [entry.n, JSON.stringify({ ...entry, detail })];
}

export function readEntry(owner: ContextOwner, member: string, codec: StateCodec): StateHistoryEntry {
  const { detail, ...entry } = JSON.parse(member) as Omit<StateHistoryEntry, 'detail'> & { detail: string };
  return { ...entry, detail: JSON.parse(codec.open(detail, historyPlace(owner, entry.n))) as StateData };
}

function dataField(type: StateType): string {
  return `${type}:data`;
}
