import { isJsonObject, parseExactJson } from '../../kernel/index.js';
import type { StateData } from './tool-state.types.js';

/** Kinds of objects that JSON serialises by content; an object with `toJSON` is replaced first. */
const WRITABLE: ReadonlySet<string> = new Set(['Object', 'Array', 'String', 'Number', 'Boolean']);
const UNWRITABLE: ReadonlySet<string> = new Set(['bigint', 'function', 'symbol']);
const INSTEAD: Readonly<Record<string, string>> = {
  Map: 'use a plain object, or an array of entries ([...map])',
  Set: 'use an array ([...set])',
  bigint: 'use a string of digits',
  NaN: 'use null',
};

/**
 * Converts a value to its JSON form: a copy of its JSON. `undefined` properties are dropped, `toJSON` is called, and an
 * object of a class is stored as its own properties.
 * @throws TypeError for a value that is not a JSON object, or that contains a value without a JSON form; the message
 * names its place (Map, Set, bigint, function, symbol, NaN, a circular reference, ...)
 */
export function toStateData(value: unknown): StateData {
  const data = parseExactJson(textOf(value) ?? 'null');
  if (isJsonObject(data)) return data as StateData;
  throw new TypeError('A state is a JSON object.');
}

/** @throws TypeError for changes that are not an object with properties, such as a Map */
export function assertChanges(changes: unknown): void {
  const kind = kindOf(changes);
  if (kind !== 'Object') throw new TypeError(`Changes of a state are an object with its keys, not a ${kind}.`);
}

function textOf(value: unknown): string | undefined {
  const places = new WeakMap<object, string>();
  return JSON.stringify(value, function (this: object, key: string, written: unknown): unknown {
    const parent = places.get(this);
    const place = parent === undefined ? 'state' : placeIn(this, parent, key);
    const lost = lostKindOf(written);
    if (lost !== null) throw new TypeError(`${place} is a ${lost}, which JSON cannot hold: ${insteadOf(lost)}.`);
    if (typeof written !== 'object' || written === null) return written;
    places.set(written, place);
    return written;
  });
}

function placeIn(holder: object, parent: string, key: string): string {
  return Array.isArray(holder) ? `${parent}[${key}]` : `${parent}.${key}`;
}

/** The kind of a value that JSON would lose or change; `null` for all others. */
function lostKindOf(value: unknown): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : String(value);
  if (typeof value === 'object') return value === null || WRITABLE.has(kindOf(value)) ? null : kindOf(value);
  return UNWRITABLE.has(typeof value) ? typeof value : null;
}

/** The built-in kind of a value: `Object`, `Array`, `Map`, ... */
function kindOf(value: unknown): string {
  if (value instanceof Map) return 'Map';
  if (value instanceof Set) return 'Set';
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

function insteadOf(kind: string): string {
  return INSTEAD[kind] ?? 'use plain objects, arrays, texts, numbers, true, false and null';
}
