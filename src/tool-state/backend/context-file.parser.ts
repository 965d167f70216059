import { parseExactJson } from '../../kernel/json/index.js';
import { contextIdOf } from '../context-id.factory.js';
import type { ContextKey, StateHistoryEntry, StateType } from '../tool-state.types.js';
import type { ContextRecord } from './context-record.js';
import type { StoredContext, StoredState, StoredVersion } from './state-store.js';

const FORMAT = 1;
const TEXT = '("(?:[^"\\\\]|\\\\.)*")';
/** The fields of a context key, in file order; the first match counts. */
const KEY = new RegExp(`"tenant":${TEXT},"session":${TEXT},"tool":${TEXT}`);

/** Data as a nested JSON value, so that the file is readable. */
type WithData<T extends { readonly json: string }> = Omit<T, 'json'> & { readonly data: unknown };

interface ContextFile {
  readonly format: number;
  readonly context: Omit<StoredContext, 'states'>;
  readonly states: Readonly<Partial<Record<StateType, WithData<StoredState>>>>;
  readonly versions: readonly WithData<StoredVersion>[];
  readonly history: readonly StateHistoryEntry[];
}

/** Serialises a context as one JSON text. Stored data texts are embedded byte for byte. */
export function toFileText({ context: { states, ...context }, versions, history }: ContextRecord): string {
  const stored = Object.entries(states).map(([type, state]) => `"${type}":${withData(state)}`);
  const parts = [
    `"format":${FORMAT}`,
    `"context":${JSON.stringify(context)}`,
    `"states":{${stored.join(',')}}`,
    `"versions":[${versions.map(withData).join(',')}]`,
    `"history":${JSON.stringify(history)}`,
  ];
  return `{${parts.join(',')}}\n`;
}

/** @throws Error naming the mistake */
export function parseFileText(text: string, id: string): ContextRecord {
  const file = parseExactJson(text) as ContextFile;
  assertFile(file, id);
  const states = Object.entries(file.states).map(([type, state]) => [type, withText(state)]);
  return {
    context: { ...file.context, states: Object.fromEntries(states) as StoredContext['states'] },
    versions: file.versions.map((version) => withText(version)),
    history: [...file.history],
  };
}

/** Context key from the rest of a damaged file, verified by the context id; `null` if it cannot be verified. */
export function keyInDamaged(text: string, id: string): ContextKey | null {
  const key = keyIn(text);
  return contextIdOf(key) === id ? key : null;
}

/** The id of a file whose name may have lost its case: some file systems list names in lower case. */
export function idOfListed(text: string, name: string): string {
  const id = contextIdOf(keyIn(text));
  return id.toLowerCase() === name.toLowerCase() ? id : name;
}

function keyIn(text: string): ContextKey {
  const [tenant = '', session = '', tool = ''] = KEY.exec(text)?.slice(1).map(textOf) ?? [];
  return { tenant, session, tool };
}

function textOf(json: string): string {
  try {
    return JSON.parse(json) as string;
  } catch {
    return '';
  }
}

function withData({ json, ...rest }: { readonly json: string }): string {
  return `${JSON.stringify(rest).slice(0, -1)},"data":${json}}`;
}

function withText<T extends { readonly data: unknown }>({ data, ...rest }: T): Omit<T, 'data'> & { json: string } {
  return { ...rest, json: JSON.stringify(data) };
}

function assertFile(file: ContextFile | null, id: string): void {
  if (file?.format !== FORMAT) throw new Error(`its format is not ${FORMAT}`);
  const { context, states, versions, history } = file;
  if (context?.id !== id) throw new Error('it is another context’s');
  const isWhole = Number.isInteger(context.revision) && isObject(states);
  if (!isWhole || !Array.isArray(versions) || !Array.isArray(history)) throw new Error('something is missing in it');
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
