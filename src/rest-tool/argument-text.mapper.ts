import { AppError } from '../errors/index.js';
import { ExactInteger } from '../kernel/json/index.js';

/** A placeholder in a text. */
export interface Placeholder {
  /** `['address', 'city']` of `{address.city}`. */
  readonly path: readonly string[];
  /** `{ids*}`: repeats the name for each member of a list (RFC 6570, 2.4.2). */
  readonly isSpread: boolean;
}

/** Texts and placeholders in order. */
export type TextTemplate = readonly (string | Placeholder)[];

const PIECE = /\{\{|\}\}|\{([^{}]*)\}|[{}]/g;
const NAME = /^([\w-]+(?:\.[\w-]+)*)(\*)?$/;

/** @throws AppError `TOOL_INVALID` for an unmatched brace or a lone surrogate */
export function parseTemplate(text: string): TextTemplate {
  if (!text.isWellFormed()) {
    throw new AppError('TOOL_INVALID', `${JSON.stringify(text)} contains a lone surrogate (half a character)`);
  }
  const pieces: (string | Placeholder)[] = [];
  let end = 0;
  for (const match of text.matchAll(PIECE)) {
    pieces.push(text.slice(end, match.index), toPiece(match[0], match[1], text));
    end = match.index + match[0].length;
  }
  pieces.push(text.slice(end));
  return pieces.filter((piece) => piece !== '');
}

export function placeholdersIn(template: TextTemplate): readonly Placeholder[] {
  return template.filter((piece) => typeof piece !== 'string');
}

/** The placeholder of a text that consists of nothing else. */
export function solePlaceholder(template: TextTemplate): Placeholder | undefined {
  const [first, ...rest] = template;
  return first !== undefined && typeof first !== 'string' && rest.length === 0 ? first : undefined;
}

function toPiece(piece: string, name: string | undefined, text: string): string | Placeholder {
  if (piece === '{{' || piece === '}}') return piece.charAt(0);
  const [, path, spread] = NAME.exec(name ?? '') ?? [];
  if (path !== undefined) return { path: path.split('.'), isSpread: spread !== undefined };
  const what = `${JSON.stringify(text)} has ${JSON.stringify(piece)}, which is not a placeholder`;
  throw new AppError('TOOL_INVALID', `${what}: write {name}, {name.inner} or {name*}, and {{ for a literal brace`);
}

/** Reason for a text that is not well-formed UTF-16. */
export const HALF = 'contains a lone surrogate (half a character), which cannot be encoded';

export type Arguments = Readonly<Record<string, unknown>>;

/** The value at a path of the arguments; `undefined` if it does not exist. */
export function argumentAt(args: Arguments, path: readonly string[]): unknown {
  let value: unknown = args;
  for (const key of path) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof ExactInteger);
}

/** Encodes the text of an argument. @param name path of the argument, for error messages */
type Encoding = (text: string, name: string) => string;

/** Fills a template; `undefined` if an argument is absent or null. */
export function fillText(
  template: TextTemplate,
  args: Arguments,
  encode: Encoding = (text) => text,
): string | undefined {
  const isWhole = placeholdersIn(template).every(({ path }) => (argumentAt(args, path) ?? null) !== null);
  if (!isWhole) return undefined;
  const pieces = template.map((piece) => (typeof piece === 'string' ? piece : pieceText(piece, args, encode)));
  return pieces.join('');
}

/** The texts of a scalar or of the members of a list. @throws AppError for an object or a nested list */
export function scalarTexts(value: unknown, name: string): string[] {
  return [value].flat().map((member) => {
    if (typeof member === 'string') return member;
    if (typeof member === 'number' || typeof member === 'boolean' || member instanceof ExactInteger)
      return String(member);
    const what = member === null ? 'null' : 'a list or an object';
    throw unwritable(`the argument "${name}" contains ${what}, which cannot be encoded there; use strings or numbers`);
  });
}

/** Checks that a text is well-formed. @throws AppError for a lone surrogate, which UTF-8 would replace */
export function wholeText(text: string, name: string): string {
  if (text.isWellFormed()) return text;
  throw unwritable(`the argument ${JSON.stringify(name)} ${HALF}`);
}

/** Error for arguments that match the schema but cannot be encoded; the model can correct them. */
export function unwritable(what: string): AppError {
  return new AppError('TOOL_INVALID_ARGUMENTS', `The request was not sent: ${what}.`);
}

function pieceText({ path }: Placeholder, args: Arguments, encode: Encoding): string {
  const name = path.join('.');
  const texts = scalarTexts(argumentAt(args, path), name);
  return texts.map((text) => encode(text, name)).join(',');
}
