import { parseExactJson } from '../../kernel/json/index.js';
import type { ContextKey, StateHistoryEntry, StateType } from '../tool-state.types.js';
import type { StateData } from '../../tool/stateful/index.js';
import { STATE_TYPES } from '../tool-state.types.js';
import type { StateCodec } from './state-codec.js';
import { historyPlace, statePlace, versionPlace, type ContextOwner } from './state-place.factory.js';
import type { ContextWrite, StoredContext, StoredState, StoredVersion } from './state-store.js';

/**
 * Fields of a context's hash: `revision`, `owner`, `about`, and one per state. Values written with every change are
 * lists instead of objects, to save space. A line of metadata precedes the text of a state, which avoids nested JSON.
 */
export type ContextFields = Readonly<Record<string, string>>;

/** Field `owner`, and member of the expiry index, which outlives the hash. */
type Owner = readonly [id: string, tenant: string, session: string, tool: string];

/** Field `about`, including the id of its last write. */
type About = readonly [
  createdAt: number,
  usedAt: number,
  expiresAt: number | null,
  isOfRun: 0 | 1,
  lastHistory: number,
  lastChange: string | null,
  write: string,
];

type StateLine = readonly [version: number, createdAt: number, updatedAt: number, expiresAt: number | null];
type VersionLine = readonly [version: number, at: number, by: string | null];
type EntryLine = readonly [n: number, at: number, kind: StateHistoryEntry['kind'], by: string | null];
type Numbered = readonly [n: number, member: string];

/** A context without its id, revision and states. */
export type ContextHead = Omit<StoredContext, 'id' | 'revision' | 'states'>;

export function toOwnerText(id: string, { tenant, session, tool }: ContextKey): string {
  return JSON.stringify([id, tenant, session, tool] satisfies Owner);
}

export function readOwner(text: string): ContextKey & { readonly id: string } {
  const [id, tenant, session, tool] = JSON.parse(text) as Owner;
  return { id, tenant, session, tool };
}

/** @param write unique id of the write */
export function toAboutText(context: ContextHead, write: string): string {
  const { createdAt, usedAt, expiresAt, isOfRun, lastHistory, lastChange } = context;
  const about: About = [createdAt, usedAt, expiresAt, isOfRun ? 1 : 0, lastHistory, lastChange, write];
  return JSON.stringify(about);
}

/** Returns `null` for an absent context. */
export function readHead(owner: string | null | undefined, about: string | null | undefined): ContextHead | null {
  if (!owner || !about) return null;
  const { tenant, session, tool } = readOwner(owner);
  const [createdAt, usedAt, expiresAt, isOfRun, lastHistory, lastChange] = JSON.parse(about) as About;
  return { tenant, session, tool, createdAt, usedAt, expiresAt, isOfRun: isOfRun === 1, lastHistory, lastChange };
}

/** Returns `null` for an absent context. */
export function readContext(id: string, fields: ContextFields, codec: StateCodec): StoredContext | null {
  const head = readHead(fields['owner'], fields['about']);
  if (!head) return null;
  const states: Partial<Record<StateType, StoredState>> = {};
  for (const type of STATE_TYPES) {
    const text = fields[type];
    if (text === undefined) continue;
    const { line, rest } = parted(text);
    const [version, createdAt, updatedAt, expiresAt] = line as StateLine;
    const json = codec.open(rest, statePlace({ tenant: head.tenant, id }, type, version));
    states[type] = { json, version, createdAt, updatedAt, expiresAt };
  }
  return { ...head, id, revision: Number(fields['revision']), states };
}

/** Fields and texts that a write sets, and fields that it drops. */
export function changedFields(
  { context, changed }: ContextWrite,
  codec: StateCodec,
): { set: string[]; drop: string[] } {
  const fields: { set: string[]; drop: string[] } = { set: [], drop: [] };
  for (const type of changed) {
    const state = context.states[type];
    if (state) fields.set.push(type, toStateText(context, type, state, codec));
    else fields.drop.push(type);
  }
  return fields;
}

/** Member of a sorted set, with its score. */
export function writeVersion(
  owner: ContextOwner,
  { version, json, at, by }: StoredVersion,
  codec: StateCodec,
): Numbered {
  const line: VersionLine = [version, at, by];
  return [version, joined(line, codec.seal(json, versionPlace(owner, version)))];
}

export function readVersion(owner: ContextOwner, member: string, codec: StateCodec): StoredVersion {
  const { line, rest } = parted(member);
  const [version, at, by] = line as VersionLine;
  return { version, json: codec.open(rest, versionPlace(owner, version)), at, by };
}

export function writeEntry(owner: ContextOwner, entry: StateHistoryEntry, codec: StateCodec): Numbered {
  const { n, at, kind, by, detail } = entry;
  const line: EntryLine = [n, at, kind, by];
  return [n, joined(line, codec.seal(JSON.stringify(detail), historyPlace(owner, n)))];
}

export function readEntry(owner: ContextOwner, member: string, codec: StateCodec): StateHistoryEntry {
  const { line, rest } = parted(member);
  const [n, at, kind, by] = line as EntryLine;
  return { n, at, kind, by, detail: parseExactJson(codec.open(rest, historyPlace(owner, n))) as StateData };
}

function toStateText({ tenant, id }: ContextOwner, type: StateType, state: StoredState, codec: StateCodec): string {
  const { json, version, createdAt, updatedAt, expiresAt } = state;
  const line: StateLine = [version, createdAt, updatedAt, expiresAt];
  return joined(line, codec.seal(json, statePlace({ tenant, id }, type, version)));
}

/** `JSON.stringify` emits no line breaks, so the first one ends the line. */
function joined(line: readonly unknown[], rest: string): string {
  return `${JSON.stringify(line)}\n${rest}`;
}

function parted(text: string): { readonly line: unknown; readonly rest: string } {
  const end = text.indexOf('\n');
  return { line: parseExactJson(text.slice(0, end)), rest: text.slice(end + 1) };
}
