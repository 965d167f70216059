import { unescapeText } from './entity.mapper.js';
import { kindOf, type TagKind } from './tag-name.policy.js';

export interface Tag {
  /** In lower case, without a prefix such as `antml:`, with `_` for `-`. */
  readonly name: string;
  readonly kind: TagKind;
  readonly isClose: boolean;
  readonly isEmpty: boolean;
  /** Names in lower case; `<function=add>` has its value under `name`. */
  readonly attributes: ReadonlyMap<string, string>;
  /** Where the text goes on. */
  readonly end: number;
}

export type TagFilter = (kind: TagKind, name: string) => boolean;

/** `partial`: the text ends before it is clear; `none`: it is text. */
export type TagReading = Tag | 'partial' | 'none';

/** A longer tag is no tag: it bounds what is looked at again and, in a stream, what is held back. */
export const MAX_TAG_LENGTH = 1_024;

/** Looked for only where the name alone does not fit. */
const PREFIX = String.raw`(?:[|｜]DSML[|｜]|[\w.-]{1,24}:)??`;
const NAME = String.raw`<(?![.-])\s{0,4}(\/?)\s{0,4}${PREFIX}([A-Za-z_][\w.-]{0,63})(?![\w.:-]|\s*<)`;
/** The beginning of a tag; all of it where it has no attribute but the name, in one of the two usual forms. */
const HEAD = new RegExp(String.raw`${NAME}(?:(?: name="([^"&]{0,64})"|=([\w.-]{1,64}))?(\/?)>)?`, 'y');
const UNUSUAL = /[A-Z-]/;
const MAX_HEAD_LENGTH = 110;
/** At the end of a text, what may still become a head. */
const UNFINISHED = String.raw`[\s/]{0,9}[|｜\w.:-]{0,100}$`;
const UNFINISHED_HEAD = new RegExp(`<(?![.:-])${UNFINISHED}`, 'y');
const SHORTHAND = /\s{0,4}=\s{0,4}["']?([^\s<>"'/]{1,128})["']?/y;
const ATTRIBUTE =
  /\s+([^\s=<>/"'“”]{1,64})(?:\s{0,8}=\s{0,8}(?:"([^"]*)"|'([^']*)'|“([^”]*)”|([^\s"'“”<>][^\s<>]*?)(?=\s|\/?>)))?/y;
const TAG_END = /\s*(?:(\/)\s{0,4})?>/y;
const KEY = String.raw`\s+[^\s=<>/"'“”]{1,64}`;
const UNQUOTED = String.raw`[^\s"'“”<>][^\s<>]*`;
const ATTRIBUTES =
  String.raw`(?:\s{0,4}=\s{0,4}["']?[^\s<>"'/]{1,128}["']?)?` +
  String.raw`(?:${KEY}(?:\s{0,8}=\s{0,8}(?:"[^"]*"|'[^']*'|“[^”]*”|${UNQUOTED}))?(?=[\s/>]|$))*`;
/**
 * What stands behind a tag's name, up to its end or to where the text is cut. With nothing to take along it is read
 * quickly: most of hostile text is no tag.
 */
const REST = new RegExp(
  String.raw`${ATTRIBUTES}(?:\s*(?:\/\s{0,4})?>|(?:\s*(?:\/\s*)?|\s{0,4}=\s{0,4}["']?[^\s<>"'/]*|` +
    String.raw`${KEY}\s*=\s*(?:"(?![^"]*")[^"]*|'(?![^']*')[^']*|“(?![^”]*”)[^”]*)?)$)`,
  'y',
);
const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map();

/**
 * Sources of patterns that find the `<` at which there may be a tag. Hostile text has a million others, and to look at
 * each of them costs far more than to search for these.
 */
export const MAY_BE_TAG = String.raw`<(?=[\s/]{0,9}(?:[\w.:|｜-]|$))`;

/** @param names of tags, in lower case with `_` for `-`; each may be a pattern */
export function mayBeTagOf(names: readonly string[]): string {
  return mayBe(String.raw`\/?\s{0,4}`, names);
}

export function mayBeEndOf(names: readonly string[]): string {
  return mayBe(String.raw`\/\s{0,4}`, names);
}

function mayBe(slash: string, names: readonly string[]): string {
  const written = names.join('|').replaceAll('_', '[_-]');
  return String.raw`<(?!<)(?=\s{0,4}${slash}${PREFIX}(?:${written})(?!\s*<)[\s=/>]|${UNFINISHED})`;
}

/**
 * Reads the tag that begins at `at`, tolerant of case, space, prefixes and either quote.
 * @param isTag which names make a tag
 */
export function readTag(text: string, at: number, isTag: TagFilter): TagReading {
  const head = matchAt(HEAD, text, at);
  if ((!head || HEAD.lastIndex === text.length) && isUnfinishedHead(text, at)) return 'partial';
  if (!head) return 'none';
  const [, slash, written, quoted, bare, emptySlash] = head;
  const name = UNUSUAL.test(written!) ? written!.toLowerCase().replaceAll('-', '_') : written!;
  const kind = kindOf(name);
  if (!isTag(kind, name)) return 'none';
  const isClose = slash === '/';
  const end = HEAD.lastIndex;
  if (emptySlash === undefined) return readRest({ name, kind, isClose }, text, at, end);
  const value = quoted ?? bare;
  const attributes = value === undefined ? NO_ATTRIBUTES : new Map([['name', value]]);
  return { name, kind, isClose, isEmpty: emptySlash === '/', attributes, end };
}

function isUnfinishedHead(text: string, at: number): boolean {
  return text.length - at <= MAX_HEAD_LENGTH && isAt(UNFINISHED_HEAD, text, at);
}

/** The name that a cut tag at `at` has so far; empty when there is none. */
export function unfinishedName(text: string, at: number): string {
  const rest = text.slice(at, at + MAX_TAG_LENGTH);
  return (/^<[\s/]*(?:[|｜]DSML[|｜]|[\w.-]+:)?([\w-]*)/.exec(rest)?.[1] ?? '').toLowerCase().replaceAll('-', '_');
}

/** @param at where the tag begins whose name ends at `nameEnd` */
function readRest(
  { name, kind, isClose }: Pick<Tag, 'name' | 'kind' | 'isClose'>,
  text: string,
  at: number,
  nameEnd: number,
): TagReading {
  const window = text.slice(at, at + MAX_TAG_LENGTH);
  const isCut = window.length < MAX_TAG_LENGTH;
  if ((!isCut && !window.includes('>')) || !isAt(REST, window, nameEnd - at)) return 'none';
  const attributes = new Map<string, string>();
  const place = readAttributes(window, nameEnd - at, attributes);
  const end = matchAt(TAG_END, window, place);
  if (end) return { name, kind, isClose, isEmpty: end[1] !== undefined, attributes, end: at + TAG_END.lastIndex };
  return isCut ? 'partial' : 'none';
}

function readAttributes(window: string, from: number, attributes: Map<string, string>): number {
  let place = from;
  const shorthand = matchAt(SHORTHAND, window, place);
  if (shorthand) {
    attributes.set('name', shorthand[1]!);
    place = SHORTHAND.lastIndex;
  }
  for (let found = matchAt(ATTRIBUTE, window, place); found; found = matchAt(ATTRIBUTE, window, place)) {
    const [, key, double, single, curly, bare] = found;
    attributes.set(key!.toLowerCase(), unescapeText(double ?? single ?? curly ?? bare ?? ''));
    place = ATTRIBUTE.lastIndex;
  }
  return place;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/**
 * Where from a place on there is one character with what is to be ahead of it; the text's length when there is none.
 * @param mark a pattern with the flag `g` that takes one character
 */
export function indexOfMark(mark: RegExp, text: string, from: number): number {
  mark.lastIndex = from;
  return mark.test(text) ? mark.lastIndex - 1 : text.length;
}

function isAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
