import { AppError, ExactInteger } from '../../common/index.js';
import { placeholdersIn, type Placeholder, type TextTemplate } from './text-template.parser.js';

/** Of a text that is not well-formed. */
export const HALF = 'holds half a character (a lone surrogate), which cannot be written there';

export type Arguments = Readonly<Record<string, unknown>>;

/** What an argument, or the inside of one, is; undefined where there is none. */
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

/** What becomes of an argument's own text. @param name for people */
type Encoding = (text: string, name: string) => string;

/** How arguments are written into a text. */
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

/** An argument as text: what is plain as it is, a list comma-separated. @throws AppError for an object, which has none */
export function scalarTexts(value: unknown, name: string): string[] {
  return [value].flat().map((member) => {
    if (typeof member === 'string') return member;
    if (typeof member === 'number' || typeof member === 'boolean' || member instanceof ExactInteger)
      return String(member);
    const what = member === null ? 'null' : 'a list or an object';
    throw unwritable(`the argument "${name}" holds ${what}, which cannot be written there; give texts or numbers`);
  });
}

/** A text that goes where only whole characters can. @throws AppError, as halves would arrive as something else */
export function wholeText(text: string, name: string): string {
  if (text.isWellFormed()) return text;
  throw unwritable(`the argument ${JSON.stringify(name)} ${HALF}`);
}

/** What is wrong with checked arguments all the same, for the model to mend. */
export function unwritable(what: string): AppError {
  return new AppError('TOOL_INVALID_ARGUMENTS', `Nothing was called: ${what}.`);
}

function pieceText({ path }: Placeholder, args: Arguments, encode: Encoding): string {
  const name = path.join('.');
  const texts = scalarTexts(argumentAt(args, path), name);
  return texts.map((text) => encode(text, name)).join(',');
}
