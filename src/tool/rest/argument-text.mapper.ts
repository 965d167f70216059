import { AppError } from '../../common/index.js';
import { placeholdersIn, type Placeholder, type TextTemplate } from './text-template.parser.js';

export type Arguments = Readonly<Record<string, unknown>>;

/** What an argument, or the inside of one, is; undefined where there is none. */
export function argumentAt(args: Arguments, path: readonly string[]): unknown {
  let value: unknown = args;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** How arguments are written into a text. `encode` is applied to each argument's own text. */
export function fillText(
  template: TextTemplate,
  args: Arguments,
  encode = (text: string): string => text,
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
    if (typeof member === 'number' || typeof member === 'boolean') return String(member);
    const what = member === null ? 'null' : 'a list or an object';
    throw unwritable(`the argument "${name}" holds ${what}, which cannot be written there; give texts or numbers`);
  });
}

/** What is wrong with checked arguments all the same, for the model to mend. */
export function unwritable(what: string): AppError {
  return new AppError('TOOL_INVALID_ARGUMENTS', `Nothing was called: ${what}.`);
}

function pieceText({ path }: Placeholder, args: Arguments, encode: (text: string) => string): string {
  return scalarTexts(argumentAt(args, path), path.join('.')).map(encode).join(',');
}
