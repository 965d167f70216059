import { ExactInteger } from '../../kernel/json/index.js';
import { scalarTexts, unwritable } from '../argument-text.mapper.js';
import type { Pair } from '../request-template.parser.js';

/** Styles of OpenAPI 3.2 ("Style Values"); `json` is a parameter with `content`: one JSON text. */
export type Style =
  'simple' | 'label' | 'matrix' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject' | 'cookie' | 'json';

/** How a value is written. */
export interface Serialization {
  readonly style: Style;
  readonly isExploded: boolean;
}

/** Encodes a text of the value. @param name path of the value, for error messages */
export type Encode = (text: string, name: string) => string;

type Entry = readonly [key: string, value: unknown];

const DELIMITERS: Partial<Record<Style, string>> = { spaceDelimited: '%20', pipeDelimited: '%7C' };

/**
 * The encoded names and values of a query, a cookie or a form; empty for null.
 * @throws AppError `TOOL_INVALID_ARGUMENTS` for a value that the style cannot write
 */
export function toPairs(name: string, value: unknown, how: Serialization, encode: Encode): readonly Pair[] {
  if (value === undefined || value === null) return [];
  const key = (text: string) => encode(text, name);
  const text = (member: unknown, place = name) => encode(textOf(member, place), place);
  if (how.style === 'json') return [[key(name), encode(JSON.stringify(value), name)]];
  if (how.style === 'deepObject') return deepPairs(name, value).map(([path, leaf]) => [key(path), text(leaf, path)]);
  const members = membersOf(value);
  const isList = Array.isArray(members);
  const pairs: readonly Pair[] = isList
    ? members.map((member) => [key(name), text(member)])
    : presentEntries(members).map(([inner, member]) => [key(inner), text(member, `${name}.${inner}`)]);
  if (how.isExploded || pairs.length === 0) return pairs;
  const texts = isList ? pairs.map(([, member]) => member) : pairs.flat();
  return [[key(name), texts.join(DELIMITERS[how.style] ?? ',')]];
}

/**
 * The encoded text of a path segment or header; `undefined` for null and for an empty list or object.
 * @throws AppError `TOOL_INVALID_ARGUMENTS` for a value that the style cannot write
 */
export function toText(name: string, value: unknown, how: Serialization, encode: Encode): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (how.style === 'json') return encode(JSON.stringify(value), name);
  const members = membersOf(value);
  const texts = Array.isArray(members)
    ? members.map((member) => encode(textOf(member, name), name))
    : entryTexts(name, members, how.isExploded, encode);
  if (texts.length === 0) return undefined;
  const isList = Array.isArray(members);
  if (how.style === 'label') return `.${texts.join(how.isExploded ? '.' : ',')}`;
  if (how.style !== 'matrix') return texts.join(',');
  if (!how.isExploded) return `;${name}=${texts.join(',')}`;
  return texts.map((text) => (isList ? `;${name}=${text}` : `;${text}`)).join('');
}

function entryTexts(name: string, object: object, isExploded: boolean, encode: Encode): string[] {
  return presentEntries(object).flatMap(([key, member]) => {
    const place = `${name}.${key}`;
    const texts = [encode(key, name), encode(textOf(member, place), place)];
    return isExploded ? [texts.join('=')] : texts;
  });
}

/** `a[b][0]=…` for every scalar within a value. */
function deepPairs(name: string, value: unknown): readonly Entry[] {
  if (!isComposite(value)) return [[name, value]];
  return presentEntries(value).flatMap(([key, member]) => deepPairs(`${name}[${key}]`, member));
}

function membersOf(value: unknown): readonly unknown[] | object {
  if (Array.isArray(value)) return value as readonly unknown[];
  return isComposite(value) ? value : [value];
}

function presentEntries(object: object): readonly Entry[] {
  return Object.entries(object).filter(([, member]) => (member ?? null) !== null);
}

export function isComposite(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof ExactInteger);
}

function textOf(value: unknown, name: string): string {
  if (isComposite(value)) throw unwritable(`"${name}" is a list or an object, which cannot be nested there`);
  return scalarTexts(value, name)[0]!;
}
