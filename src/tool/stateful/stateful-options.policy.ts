import { messageOf } from '../../errors/index.js';
import { MOST_STATE_BYTES } from '../../kernel/index.js';
import { isJsonObject, parseExactJson } from '../../kernel/json/index.js';
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

/** Jackdaw's state managers by storage location; the default is configured. */
const STATE_MANAGERS = ['memory', 'persistent', 'session', 'distributed'] as const;
/** Name of a state manager: one of Jackdaw's, or of the application's `stateManagers`. */
export type StateManagerName = (typeof STATE_MANAGERS)[number] | (string & {});

export function isOwnStateManager(name: string): boolean {
  return !(STATE_MANAGERS as readonly string[]).includes(name);
}

/** State options of a tool; defaults come from the configuration. */
export interface StatefulOptions {
  /** State manager. */
  readonly manager?: StateManagerName;
  /** Initial business state of a new context; default `{}`. */
  readonly initial?: StateData | (() => StateData);
  /** Time to live of a state after its last change, in ms. */
  readonly ttlMs?: number;
  /** Maximum size of a state as JSON, in bytes (UTF-8), up to 4,194,304. */
  readonly maxStateBytes?: number;
  /** Maximum number of calls in a context's history; 0: none. */
  readonly maxHistory?: number;
  /** Maximum number of stored versions of the business state; 0: none. */
  readonly maxVersions?: number;
  /** Write-conflict strategy for a change based on an outdated version. */
  readonly conflict?: ConflictResolution;
  /** Whether the state is deleted at the end of the run; always true without a session. */
  readonly cleanupAfterRun?: boolean;
  /** Whether a successful call stores its changes; otherwise only `state.save()` does. Default: the configuration. */
  readonly autoSave?: boolean;
}

/** Write-conflict strategy for a change based on an outdated version: overwrite, drop, merge by key, or fail. */
export const CONFLICT_RESOLUTIONS = ['last_write_wins', 'first_write_wins', 'merge', 'error'] as const;
export type ConflictResolution = (typeof CONFLICT_RESOLUTIONS)[number];

/** Maximum timer delay in Node.js, used as the upper limit of all numbers. */
const MOST = 2 ** 31 - 1;

/** Checks of the options. Each returns the mistake as a clause about the tool, or `null`. */
const CHECKS: { readonly [Key in keyof Required<StatefulOptions>]: (value: unknown) => string | null } = {
  manager: (value) => (typeof value === 'string' && value !== '' ? null : 'use the name of a state manager'),
  initial: (value) => (typeof value === 'function' ? null : initialProblem(value)),
  ttlMs: whole(1),
  maxStateBytes: whole(2, MOST_STATE_BYTES),
  maxHistory: whole(0),
  maxVersions: whole(0),
  conflict: oneOf(CONFLICT_RESOLUTIONS),
  cleanupAfterRun: isSwitch,
  autoSave: isSwitch,
};

/** All mistakes in a tool's state options. */
export function statefulProblems(stateful: unknown): string[] {
  if (stateful === undefined || typeof stateful === 'boolean') return [];
  if (!isObject(stateful)) return ['its stateful is neither true, false nor an object of options'];
  return Object.entries(stateful).flatMap(([key, value]) => {
    const check = Object.hasOwn(CHECKS, key) ? CHECKS[key as keyof StatefulOptions] : undefined;
    if (!check) return [`its stateful has an unknown option ${key} (known: ${Object.keys(CHECKS).join(', ')})`];
    const wrong = value === undefined ? null : check(value);
    return wrong === null ? [] : [`its stateful.${key} is ${shown(value)}: ${wrong}`];
  });
}

/** The mistake of a tool's state manager, as a clause about the tool; `null` without one. @param own further managers */
export function managerProblem(options: StatefulOptions | undefined, own: ReadonlySet<string>): string | null {
  const name = options?.manager;
  if (name === undefined || !isOwnStateManager(name) || own.has(name)) return null;
  const known = [...STATE_MANAGERS, ...own].map((one) => JSON.stringify(one)).join(', ');
  return `its stateful.manager is ${JSON.stringify(name)}: use ${known}, or add it to the option stateManagers`;
}

/** State options; `undefined` for a stateless tool. */
export function toStateful(stateful: boolean | StatefulOptions | undefined): StatefulOptions | undefined {
  if (stateful === undefined || stateful === false) return undefined;
  return stateful === true ? {} : stateful;
}

function initialProblem(value: unknown): string | null {
  if (!isObject(value)) return 'use an object, or a function that gives one';
  try {
    toStateData(value);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

function whole(from: number, to = MOST) {
  return (value: unknown): string | null =>
    Number.isInteger(value) && (value as number) >= from && (value as number) <= to
      ? null
      : `use a whole number from ${from} to ${to}`;
}

function oneOf(values: readonly string[]) {
  return (value: unknown): string | null =>
    values.includes(value as string) ? null : `use ${values.map((one) => JSON.stringify(one)).join(', ')}`;
}

function isSwitch(value: unknown): string | null {
  return typeof value === 'boolean' ? null : 'use true or false';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return 'no JSON';
  }
}
