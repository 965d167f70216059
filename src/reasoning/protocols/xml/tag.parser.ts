import { unescapeText } from './entity.mapper.js';

/**
 * `wrapper`: element around calls; Qwen and Hermes were trained on `tool_call`, other models write the plural.
 * `results`: reserved for us; a model that writes it invents tool output. `transparent`: an additional element around
 * the parameters, which some models write.
 */
export type TagKind = 'wrapper' | 'invoke' | 'results' | 'transparent' | 'parameter';

const KINDS = new Map<string, TagKind>([
  ['function_calls', 'wrapper'],
  ['function_call', 'wrapper'],
  ['tool_calls', 'wrapper'],
  ['tool_call', 'wrapper'],
  ['invoke', 'invoke'],
  ['function', 'invoke'],
  ['function_results', 'results'],
  ['function_result', 'results'],
  ['tool_results', 'results'],
  ['tool_result', 'results'],
  ['tool_response', 'results'],
  ['parameters', 'transparent'],
  ['arguments', 'transparent'],
]);
const ALL = [...namesOf('wrapper', 'invoke', 'results'), 'parameter'];
/** Minimum length of a truncated tag name at the end of a reply that counts as markup instead of text. */
const MIN_CUT_NAME = 3;

/** The kind of a tag in a block; unknown names are parameters. */
export function kindOf(name: string): TagKind {
  return KINDS.get(name) ?? 'parameter';
}

export function namesOf(...kinds: readonly TagKind[]): readonly string[] {
  return [...KINDS].filter(([, kind]) => kinds.includes(kind)).map(([name]) => name);
}

/** Whether a kind is markup outside of a block; parameters have a meaning only in a call. */
export function isOuter(kind: TagKind): boolean {
  return kind === 'wrapper' || kind === 'invoke' || kind === 'results';
}

/** Whether a tag may follow directly in a wrapper. */
export function isInner(kind: TagKind, name: string): boolean {
  return isOuter(kind) || name === 'parameter' || name === 'arg_key' || name === 'tool_name';
}

export function isAny(): boolean {
  return true;
}

/** Whether a truncated tag name at the end of the reply is the start of a protocol tag. */
export function isCutName(letters: string): boolean {
  return letters.length >= MIN_CUT_NAME && ALL.some((name) => name.startsWith(letters));
}

export interface Tag {
  /** In lower case, without a prefix such as `antml:`; `-` is replaced by `_`. */
  readonly name: string;
  readonly kind: TagKind;
  readonly isClose: boolean;
  readonly isEmpty: boolean;
  /** Names in lower case; `<function=add>` has its value under `name`. */
  readonly attributes: ReadonlyMap<string, string>;
  /** Index after the tag. */
  readonly end: number;
}

export type TagFilter = (kind: TagKind, name: string) => boolean;

/** `partial`: the text ends within a possible tag; `none`: it is text. */
export type TagReading = Tag | 'partial' | 'none';

/** Maximum length of a tag. It bounds the text that is scanned again and, in a stream, the text that is held back. */
export const MAX_TAG_LENGTH = 1_024;

/** Matched only if the name alone does not match. */
const PREFIX = String.raw`(?:[|｜]DSML[|｜]|[\w.-]{1,24}:)??`;
const NAME = String.raw`<(?![.-])\s{0,4}(\/?)\s{0,4}${PREFIX}([A-Za-z_][\w.-]{0,63})(?![\w.:-]|\s*<)`;
/** The start of a tag; the whole tag if it has at most a name attribute, in one of the two usual forms. */
const HEAD = new RegExp(String.raw`${NAME}(?:(?: name="([^"&]{0,64})"|=([\w.-]{1,64}))?(\/?)>)?`, 'y');
const UNUSUAL = /[A-Z-]/;
const MAX_HEAD_LENGTH = 110;
/** At the end of a text: a possible start of a head. */
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
 * The rest of a tag after its name, up to its end or the end of the text. Without capture groups it matches fast: most
 * of a hostile text is not a tag.
 */
const REST = new RegExp(
  String.raw`${ATTRIBUTES}(?:\s*(?:\/\s{0,4})?>|(?:\s*(?:\/\s*)?|\s{0,4}=\s{0,4}["']?[^\s<>"'/]*|` +
    String.raw`${KEY}\s*=\s*(?:"(?![^"]*")[^"]*|'(?![^']*')[^']*|“(?![^”]*”)[^”]*)?)$)`,
  'y',
);
const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map();

/**
 * Source of a pattern for each `<` that may start a tag. Hostile text may have a million others; searching for these is
 * far faster than trying each.
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
 * Reads the tag at `at`, tolerant of case, spaces, prefixes and the quote character.
 * @param isTag names that are tags
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

/** The name read so far of a truncated tag at `at`; may be empty. */
export function unfinishedName(text: string, at: number): string {
  const rest = text.slice(at, at + MAX_TAG_LENGTH);
  return (/^<[\s/]*(?:[|｜]DSML[|｜]|[\w.-]+:)?([\w-]*)/.exec(rest)?.[1] ?? '').toLowerCase().replaceAll('-', '_');
}

/** @param at start of the tag whose name ends at `nameEnd` */
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
 * Index of the next mark at or after `from`; the text's length without a match.
 * @param mark a pattern with the flag `g` that consumes one character
 */
export function indexOfMark(mark: RegExp, text: string, from: number): number {
  mark.lastIndex = from;
  return mark.test(text) ? mark.lastIndex - 1 : text.length;
}

function isAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
