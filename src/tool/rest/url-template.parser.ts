import { AppError } from '../../common/index.js';
import { type Arguments, fillText, HALF, unwritable } from './argument-text.mapper.js';
import { parseTemplate, placeholdersIn, type TextTemplate } from './text-template.parser.js';

const PARTS = /^(https?:\/\/[^/?#\\]+)(\/[^?#]*)?(\?[^#]*)?(#.*)?$/i;
/** How often a value may have been percent-encoded by the one who gives it, that somebody on the way decodes it. */
const DECODINGS = 3;
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/;

/** A URL with places for arguments in its path. Nothing that an argument holds changes host, path or query around it. */
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
      [/[{}@]/.test(base), 'has an argument or a user name before its path: only the path takes them'],
      [/[{}]/.test(search), 'has an argument in its query: use `query` for that'],
      [fragment !== '', 'has a fragment (#…), which no server sees: leave it out'],
      [base !== '' && !URL.canParse(base), 'has no host that can be called'],
      [segments.flatMap(placeholdersIn).some(({ isSpread }) => isSpread), 'has a {name*} in its path'],
      [segments.some((segment) => isDotSegment(textOf(segment))), 'has a segment "." or ".."'],
    ];
    const broken = rules.find(([isBroken]) => isBroken);
    if (broken) throw new AppError('TOOL_INVALID', `its url ${broken[1]}`);
    return new UrlTemplate(base, segments, search);
  }

  /** The arguments that it needs. */
  get paths(): readonly (readonly string[])[] {
    return this.segments.flatMap(placeholdersIn).map(({ path }) => path);
  }

  /** @throws AppError `TOOL_INVALID_ARGUMENTS` for what would lead elsewhere */
  fill(args: Arguments): URL {
    const path = this.segments.map((segment) => segmentOf(segment, args));
    const url = new URL(this.base);
    url.pathname = `/${path.join('/')}`;
    url.search = this.search;
    if (url.pathname.split('/').length !== Math.max(path.length, 1) + 1)
      throw unwritable('its address comes out wrong');
    return url;
  }
}

function segmentOf(segment: TextTemplate, args: Arguments): string {
  const text = fillText(segment, args, encoded);
  if (text === undefined) throw unwritable('an argument of the address is missing');
  if (text === '' && segment.length > 0) throw unwritable('an argument of the address is empty');
  if (isDotSegment(text)) throw unwritable('an argument of the address leads out of its place');
  return text;
}

function encoded(text: string, name: string): string {
  if (text === '') throw unwritable('an argument of the address is empty');
  if (!text.isWellFormed()) throw unwritable(`an argument of the address, "${name}", ${HALF}`);
  if (CONTROL.test(text)) throw unwritable('an argument of the address holds control characters');
  if (leadsElsewhere(text)) throw unwritable('an argument of the address leads out of its place');
  return encodeURIComponent(text);
}

/**
 * Whether a server that decodes once too often would climb by it: it has `..` as a segment, plain, percent-encoded, or
 * with a parameter behind it (`..;x`, which some servers cut off).
 */
function leadsElsewhere(text: string): boolean {
  let plain = text;
  for (let count = 0; count <= DECODINGS; count++) {
    if (plain.split(/[/\\]/).some((part) => /^\.{1,2}$/.test(part.split(';')[0]!))) return true;
    plain = plain.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  return false;
}

/** As URL parsers see it. */
function isDotSegment(segment: string): boolean {
  return /^(\.|%2e){1,2}$/i.test(segment);
}

function textOf(segment: TextTemplate): string {
  return segment.map((piece) => (typeof piece === 'string' ? piece : '…')).join('');
}
