import { AppError } from '../errors/index.js';
import {
  type Arguments,
  fillText,
  HALF,
  parseTemplate,
  placeholdersIn,
  type TextTemplate,
  unwritable,
} from './argument-text.mapper.js';

const PARTS = /^(https?:\/\/[^/?#\\]+)(\/[^?#]*)?(\?[^#]*)?(#.*)?$/i;
/** Maximum layers of percent-encoding that are checked, since proxies and servers may decode more than once. */
const DECODINGS = 3;
// oxlint-disable-next-line no-control-regex -- the pattern searches for control characters
const CONTROL = /[\u0000-\u001f\u007f]/;

/** A URL with placeholders in its path. No argument can change the host, the other segments or the query. */
export class UrlTemplate {
  private constructor(
    private readonly base: string,
    private readonly segments: readonly TextTemplate[],
    private readonly search: string,
  ) {}

  /** @throws AppError `TOOL_INVALID` */
  static parse(text: string): UrlTemplate {
    const [, base = '', path = '', search = '', fragment = ''] = PARTS.exec(text) ?? [];
    const segments = path.split('/').slice(1).map(parseTemplate);
    const rules: readonly (readonly [isBroken: boolean, what: string])[] = [
      [base === '', 'is not https://host/path'],
      [
        /[{}@]/.test(base),
        'has a placeholder or a user name before its path: placeholders are allowed in the path only',
      ],
      [/[{}]/.test(search), 'has a placeholder in its query: use `query` instead'],
      [fragment !== '', 'has a fragment (#…), which is never sent: remove it'],
      [base !== '' && !URL.canParse(base), 'has an invalid host'],
      [segments.flatMap(placeholdersIn).some(({ isSpread }) => isSpread), 'has a {name*} in its path'],
      [segments.some((segment) => isDotSegment(textOf(segment))), 'has a segment "." or ".."'],
    ];
    const broken = rules.find(([isBroken]) => isBroken);
    if (broken) throw new AppError('TOOL_INVALID', `its url ${broken[1]}`);
    return new UrlTemplate(base, segments, search);
  }

  /** Paths of the arguments that it requires. */
  get paths(): readonly (readonly string[])[] {
    return this.segments.flatMap(placeholdersIn).map(({ path }) => path);
  }

  /** @throws AppError `TOOL_INVALID_ARGUMENTS` for arguments that would change the destination */
  fill(args: Arguments): URL {
    const path = this.segments.map((segment) => segmentOf(segment, args));
    const url = new URL(this.base);
    url.pathname = `/${path.join('/')}`;
    url.search = this.search;
    if (url.pathname.split('/').length !== Math.max(path.length, 1) + 1)
      throw unwritable('the arguments change the structure of the URL');
    return url;
  }
}

function segmentOf(segment: TextTemplate, args: Arguments): string {
  const text = fillText(segment, args, encodeSegment);
  if (text === undefined) throw unwritable('an argument of the URL is missing');
  return wholeSegment(text, segment.length > 0);
}

/**
 * Checks a filled segment of a path.
 * @param isFilled whether the segment has text or arguments
 * @throws AppError `TOOL_INVALID_ARGUMENTS` for an empty or a dot segment
 */
export function wholeSegment(text: string, isFilled: boolean): string {
  if (text === '' && isFilled) throw unwritable('an argument of the URL is empty');
  if (isDotSegment(text)) throw unwritable('an argument of the URL would change the path around it');
  return text;
}

/**
 * Percent-encodes an argument within a segment of a path.
 * @throws AppError `TOOL_INVALID_ARGUMENTS` for a text that could change the path on a server that decodes it
 */
export function encodeSegment(text: string, name: string): string {
  if (text === '') throw unwritable('an argument of the URL is empty');
  if (!text.isWellFormed()) throw unwritable(`an argument of the URL, "${name}", ${HALF}`);
  if (CONTROL.test(text)) throw unwritable('an argument of the URL contains control characters');
  if (traverses(text)) throw unwritable('an argument of the URL would change the path around it');
  return encodeURIComponent(text);
}

/**
 * Whether a text allows path traversal on a server that decodes repeatedly: it has a segment `..`, plain,
 * percent-encoded, or with a parameter (`..;x`, which some servers strip).
 */
export function traverses(text: string): boolean {
  let plain = text;
  for (let count = 0; count <= DECODINGS; count++) {
    if (plain.split(/[/\\]/).some((part) => /^\.{1,2}$/.test(part.split(';')[0]!))) return true;
    plain = plain.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  return false;
}

/** Whether a URL parser changes a text within a segment: it drops tabs and newlines, and reads `\` as `/`. */
export function isRewritten(text: string): boolean {
  return text.includes('\\') || CONTROL.test(text);
}

/** A dot segment as URL parsers define it. */
function isDotSegment(segment: string): boolean {
  return /^(\.|%2e){1,2}$/i.test(segment);
}

function textOf(segment: TextTemplate): string {
  return segment.map((piece) => (typeof piece === 'string' ? piece : '…')).join('');
}
