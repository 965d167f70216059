import { unescapeText } from './entity.mapper.js';

export interface Tag {
  /** In lower case, without a prefix such as `antml:`, with `_` for `-`. */
  readonly name: string;
  readonly isClose: boolean;
  readonly isEmpty: boolean;
  /** Names in lower case; `<function=add>` has its value under `name`. */
  readonly attributes: ReadonlyMap<string, string>;
  /** Where the text goes on. */
  readonly end: number;
}

/** `partial`: the text ends before it is clear; `none`: it is text. */
export type TagReading = Tag | 'partial' | 'none';

/** A longer tag is no tag: it bounds what is looked at again and, in a stream, what is held back. */
export const MAX_TAG_LENGTH = 1_024;

const PREFIX = String.raw`(?:[|｜]DSML[|｜]|[\w.-]{1,24}:)?`;
const HEAD = new RegExp(String.raw`<\s{0,4}(\/?)\s{0,4}${PREFIX}([A-Za-z_][\w.-]{0,63})`, 'y');
/** The sign after `<`. */
const MAY_BEGIN = /[\w/\s|｜]/;
const MAX_HEAD_LENGTH = 110;
const UNFINISHED_HEAD = /<[\s/]{0,9}[|｜\w.:-]{0,100}$/y;
const SHORTHAND = /\s{0,4}=\s{0,4}["']?([^\s<>"'/]{1,128})["']?/y;
const ATTRIBUTE =
  /\s+([^\s=<>/"'“”]{1,64})(?:\s{0,8}=\s{0,8}(?:"([^"]*)"|'([^']*)'|“([^”]*)”|([^\s"'“”<>][^\s<>]*?)(?=\s|\/?>)))?/y;
const TAG_END = /\s*(?:(\/)\s{0,4})?>/y;

/**
 * Reads the tag that begins at `at`, tolerant of case, space, prefixes and either quote.
 * @param isName which names make a tag
 */
export function readTag(text: string, at: number, isName: (name: string) => boolean): TagReading {
  if (at + 1 < text.length && !MAY_BEGIN.test(text.charAt(at + 1))) return 'none';
  if (text.length - at <= MAX_HEAD_LENGTH && matchAt(UNFINISHED_HEAD, text, at)) return 'partial';
  const head = matchAt(HEAD, text, at);
  if (!head) return 'none';
  const name = head[2]!.toLowerCase().replaceAll('-', '_');
  if (!isName(name)) return 'none';
  const nameEnd = HEAD.lastIndex - at;
  const window = text.slice(at, at + MAX_TAG_LENGTH);
  const attributes = new Map<string, string>();
  const place = readAttributes(window, nameEnd, attributes);
  const end = matchAt(TAG_END, window, place);
  if (end) {
    const isEmpty = end[1] !== undefined;
    return { name, isClose: head[1] === '/', isEmpty, attributes, end: at + TAG_END.lastIndex };
  }
  return isOpenEnded(window, place) ? 'partial' : 'none';
}

/** The name that a cut tag at `at` has so far; empty when there is none. */
export function unfinishedName(text: string, at: number): string {
  const rest = text.slice(at, at + MAX_TAG_LENGTH);
  return (/^<[\s/]*(?:[|｜]DSML[|｜]|[\w.-]+:)?([\w-]*)/.exec(rest)?.[1] ?? '').toLowerCase().replaceAll('-', '_');
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

/** Whether more text could still finish the tag: nothing after the last whole attribute rules it out. */
function isOpenEnded(window: string, place: number): boolean {
  if (window.length >= MAX_TAG_LENGTH) return false;
  const rest = window.slice(place);
  return /^(?:\s*\/?\s*|\s{0,4}=\s{0,4}["']?[^\s<>"'/]*|\s+[^\s=<>/"'“”]*\s*(?:=\s*(?:"[^"]*|'[^']*|“[^”]*|[^\s"'“”<>][^\s<>]*)?)?)$/.test(
    rest,
  );
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
