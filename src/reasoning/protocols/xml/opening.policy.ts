import { isAny, isCutName, isInner, isOuter, readTag, type Tag, unfinishedName } from './tag.parser.js';

/** Classification of a `<` in a reply's text. */
export type Opening =
  | { readonly kind: 'text' | 'hidden'; readonly end: number }
  /** More text is needed to decide. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'block'; readonly tag: Tag }
  | { readonly kind: 'results' };

const WAIT: Opening = { kind: 'wait' };
const SPACE = /\s{0,256}/y;
/** GLM writes the name as bare text, then the arguments. */
const BARE_NAME = /[\w-]{1,64}\s{0,64}/y;

/**
 * Classifies a tag by the text after it: a tag in a sentence is followed by more of the sentence, a block by its
 * content.
 * @param isInline whether the tag is inside inline code
 */
export function readOpening(text: string, at: number, isInline: boolean, isFinal: boolean): Opening {
  const tag = readTag(text, at, isOuter);
  if (tag === 'none') return { kind: 'text', end: at + 1 };
  if (tag === 'partial') return isFinal ? readCut(text, at) : WAIT;
  const after = isInline ? text.charAt(tag.end) : ' ';
  if (after === '`') return { kind: 'text', end: tag.end };
  if (after === '' && !isFinal) return WAIT;
  return readWhole(text, tag, isInline, isFinal);
}

function readWhole(text: string, tag: Tag, isInline: boolean, isFinal: boolean): Opening {
  if (tag.kind === 'results' && !tag.isClose) return { kind: 'results' };
  return tag.isClose ? readStrayEnd(tag, isInline) : readContent(text, tag, isFinal);
}

/** A tag truncated by the end of the reply. */
function readCut(text: string, at: number): Opening {
  const isMarkup = isCutName(unfinishedName(text, at));
  return isMarkup ? { kind: 'hidden', end: text.length } : { kind: 'text', end: at + 1 };
}

/** `</function>` alone may belong to any language. */
function readStrayEnd(tag: Tag, isInline: boolean): Opening {
  return { kind: isInline || tag.name === 'function' ? 'text' : 'hidden', end: tag.end };
}

function readContent(text: string, tag: Tag, isFinal: boolean): Opening {
  if (tag.isEmpty) return isCallAlone(tag) ? { kind: 'block', tag } : { kind: 'hidden', end: tag.end };
  const next = endOf(SPACE, text, tag.end);
  const wait: Opening = isFinal ? { kind: 'block', tag } : WAIT;
  switch (text.charAt(next)) {
    case '':
      return wait;
    case '{':
    case '[':
      return { kind: 'block', tag };
    case '<':
      return readInnerTag(text, next, tag, wait);
    default:
      return tag.kind === 'wrapper' ? readBareName(text, next, tag, isFinal) : { kind: 'text', end: tag.end };
  }
}

function readBareName(text: string, at: number, tag: Tag, isFinal: boolean): Opening {
  const end = endOf(BARE_NAME, text, at);
  const wait: Opening = isFinal ? { kind: 'text', end: tag.end } : WAIT;
  if (end > at && end === text.length) return wait;
  const isFollowed = end > at && text.charAt(end) === '<';
  return isFollowed ? readInnerTag(text, end, tag, wait) : { kind: 'text', end: tag.end };
}

function readInnerTag(text: string, at: number, tag: Tag, wait: Opening): Opening {
  const inner = readTag(text, at, tag.kind === 'wrapper' ? isInner : isAny);
  if (inner === 'partial') return wait;
  return inner === 'none' ? { kind: 'text', end: tag.end } : { kind: 'block', tag };
}

function isCallAlone({ kind, attributes }: Tag): boolean {
  return kind === 'invoke' && attributes.has('name');
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
