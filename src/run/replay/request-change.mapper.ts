import { isDeepStrictEqual } from 'node:util';

/** A difference between two JSON values. */
export interface Change {
  /** Such as `messages[0].content`; a tool has its name: `tools.look.description`. */
  readonly path: string;
  /** Absent if the present code adds the value. */
  readonly expected?: string;
  /** Absent if the present code removes it. */
  readonly actual?: string;
}

/** Maximum number of changes. */
const MAX_CHANGES = 20;
/** Characters of a text before and after its first difference. */
const [BEFORE, AFTER] = [40, 160];

type Json = Readonly<Record<string, unknown>>;
type Mask = (text: string) => string;
type Parts = ReadonlyMap<string, unknown>;

/** The differences of two JSON values, the first ones of each part. @param mask masks secrets in texts */
export function changesOf(expected: unknown, actual: unknown, mask: Mask = (text) => text): readonly Change[] {
  const changes: Change[] = [];
  compare('', plain(expected), plain(actual), (path, one, other) => changes.push(toChange(path, one, other, mask)));
  return changes.slice(0, MAX_CHANGES);
}

/** The value as its JSON has it. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

type Report = (path: string, expected: unknown, actual: unknown) => void;

function compare(path: string, expected: unknown, actual: unknown, report: Report): void {
  if (isDeepStrictEqual(expected, actual)) return;
  const [one, other] = [partsOf(path, expected), partsOf(path, actual)];
  if (!one || !other || Array.isArray(expected) !== Array.isArray(actual)) return report(path, expected, actual);
  if (isToolList(path)) compareOrder(path, one, other, report);
  for (const [name, value] of one) {
    if (other.has(name)) compare(name, value, other.get(name), report);
    else report(name, value, undefined);
  }
  for (const [name, value] of other) if (!one.has(name)) report(name, undefined, value);
}

/** A provider's cache depends on the order of the tools. */
function compareOrder(path: string, one: Parts, other: Parts, report: Report): void {
  const before = [...one.keys()].filter((name) => other.has(name)).join(', ');
  const after = [...other.keys()].filter((name) => one.has(name)).join(', ');
  if (before !== after) report(`${path} (order)`, before, after);
}

/** The members of an object or an array by path; undefined for other values. */
function partsOf(path: string, value: unknown): Parts | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) return new Map(Object.entries(value).map(([key, one]) => [join(path, key), one]));
  const nameAt = (one: unknown, i: number) =>
    isToolList(path) ? join(path, toolName(one) ?? String(i)) : `${path}[${i}]`;
  return new Map(value.map((one, i) => [nameAt(one, i), one]));
}

function isToolList(path: string): boolean {
  return path === 'tools';
}

/** The name of a tool in the APIs of OpenAI and Anthropic. */
function toolName(tool: unknown): string | undefined {
  const { name, function: own } = (tool ?? {}) as Json;
  const found = typeof name === 'string' ? name : (own as Json | undefined)?.['name'];
  return typeof found === 'string' ? found : undefined;
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function toChange(path: string, expected: unknown, actual: unknown, mask: Mask): Change {
  const [one, other] = [expected, actual].map((value) => (value === undefined ? undefined : mask(textOf(value))));
  const from = firstDifference(one ?? '', other ?? '');
  return {
    path: path || '(whole)',
    ...(one !== undefined && { expected: excerpt(one, other === undefined ? 0 : from) }),
    ...(other !== undefined && { actual: excerpt(other, one === undefined ? 0 : from) }),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}

/** The part of a text around a position. */
function excerpt(text: string, at: number): string {
  const [start, end] = [Math.max(0, at - BEFORE), at + AFTER];
  const part = text.slice(start, end).toWellFormed();
  return `${start > 0 ? '…' : ''}${part}${end < text.length ? '…' : ''}`;
}
